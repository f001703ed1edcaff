import { cell, oneLine, plural, table } from "../present.ts";
import type { FunctionStateData, FunctionView } from "../state-view.ts";

/** Characters of the lines below the table. */
const roomForLines = 8_000;

/** The text of `function_state`. */
export function renderState(data: FunctionStateData, input: Readonly<Record<string, unknown>>, tool: string): string {
  const { session, functions, total } = data;
  const head = headOf(session);
  if (!session.known) return `${head}\nno function state recorded`;
  if (functions.length === 0) return `${head}\nno active function`;
  const withArtifacts = functions.some(({ artifacts }) => artifacts !== undefined);
  const withEvidence = functions.some(({ evidence }) => evidence !== undefined);
  const columns = [
    "Function",
    "Phase",
    "Gate",
    ...(withEvidence ? ["Evidence"] : []),
    ...(withArtifacts ? ["Artifacts"] : []),
    "Continue",
  ];
  const most = Math.max(40, Math.min(160, Math.floor(18_000 / functions.length / columns.length)));
  const rows = functions.map((one) => [
    cell(one.id, 120),
    one.phase,
    gateOf(one),
    ...(withEvidence ? [cell(evidenceOf(one), most)] : []),
    ...(withArtifacts ? [cell(artifactsOf(one), most)] : []),
    continueOf(one),
  ]);
  const more =
    data.nextCursor === undefined
      ? []
      : [
          `${functions.length} of ${plural(total, "function")}. Next: ${tool} ${JSON.stringify({ ...input, cursor: data.nextCursor })}`,
        ];
  return [head, ...table(columns, rows), ...bounded(functions.flatMap(linesOf)), ...more].join("\n");
}

function headOf({ id, turn, openPause, latestTerminating }: FunctionStateData["session"]): string {
  const parts = [`Session ${oneLine(id, 300)}`, `turn ${turn}`];
  if (openPause) {
    const until = openPause.expiresAt === undefined ? "" : ` until ${showTime(openPause.expiresAt)}`;
    parts.push(`paused by ${openPause.type} #${openPause.seq}${until}`);
  }
  if (latestTerminating !== null) parts.push(`last terminating signal #${latestTerminating}`);
  return parts.join(" · ");
}

function gateOf({ gate, requires }: FunctionView): string {
  const unmet = requires.filter(({ met }) => !met).map(({ name }) => name);
  if (gate === undefined && requires.length === 0) return "–";
  const open = gate?.value ?? true;
  return unmet.length === 0 ? (open ? "yes" : "no") : cell(`no, needs ${unmet.join(", ")}`, 80);
}

function evidenceOf({ evidence }: FunctionView): string {
  if (evidence === undefined) return "";
  return [
    ...evidence.required.map(({ label, observed }) => `${label} ${observed ? "✓" : "✗"}`),
    ...evidence.other,
  ].join(", ");
}

function artifactsOf({ artifacts = [] }: FunctionView): string {
  return artifacts.map(({ use, name, state }) => `${use} ${name} ${state}`).join(", ");
}

function continueOf({ continuation: { count, max, until } }: FunctionView): string {
  if (until === undefined) return "–";
  return `${count} of ${max}, ${until.value ? "met" : "not met"}`;
}

/** What the table cannot say: reasons, problems, what did not fire and what did. */
function linesOf(one: FunctionView): string[] {
  const { id, gate, problems, transitions, continuation, values } = one;
  const set = Object.entries(values).map(([key, value]) => `${key}=${JSON.stringify(value)}`);
  const lines = [
    ...problems.map((problem) => `Problem: ${id}: ${problem}`),
    ...(gate ? [`Gate: ${id} ${gate.expr}: ${gate.value} (${gate.why.join("; ")})`] : []),
    ...(continuation.until
      ? [`Until: ${id} ${continuation.until.expr}: ${continuation.until.value} (${continuation.until.why.join("; ")})`]
      : []),
    ...(set.length > 0 ? [`Values: ${id} ${set.join(", ")}`] : []),
    ...transitions.map((transition) => {
      const what = [
        ...(transition.activate.length > 0 ? [`activate ${transition.activate.join(", ")}`] : []),
        ...(transition.deactivate.length > 0 ? [`deactivate ${transition.deactivate.join(", ")}`] : []),
      ].join(", ");
      const start = `${id} when ${transition.expr} → ${what || "nothing"}`;
      return transition.firedAt === null
        ? `Not fired: ${start}: ${transition.value} (${transition.why.join("; ")})`
        : `Fired: ${start} at ${showTime(transition.firedAt)}`;
    }),
  ];
  return lines.map((line) => oneLine(line, 400));
}

function bounded(lines: readonly string[]): string[] {
  let left = roomForLines;
  const shown = lines.filter((line) => {
    left -= line.length + 1;
    return left >= 0;
  });
  return shown.length === lines.length
    ? shown
    : [...shown, `… ${lines.length - shown.length} more lines; a smaller limit or role_id shows them.`];
}

/** A time in UTC; the number itself where it is none. */
function showTime(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString();
}
