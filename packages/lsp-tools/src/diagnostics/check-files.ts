import { ToolError } from "@toolhaft/core";
import type { DiagnosticsData, FileDiagnostic, ServerReport, Severity } from "../answer.ts";
import { severities } from "../answer.ts";
import { type Asked, askAll, type Call } from "../ask.ts";
import { conclude } from "../conclude.ts";
import { features } from "../features.ts";
import type { OpenFile } from "../open-file.ts";
import { pathOfUri } from "../places.ts";
import { compareRanges } from "../positions.ts";
import { collectRaw, describeDiagnostic } from "./collect.ts";

interface Checked {
  file: OpenFile;
  asked: Asked<FileDiagnostic[]>[];
}

export interface CheckOptions {
  /** Lowest level that is shown. */
  severity: Severity | "all";
  limit: number;
  offset: number;
}

/** How many files are checked side by side. */
const parallel = 4;

/** Asks all servers of all files and says of each file how certain the answer is. */
export async function checkFiles(
  call: Call,
  files: readonly OpenFile[],
  options: CheckOptions,
): Promise<DiagnosticsData> {
  const checked: Checked[] = new Array(files.length);
  let next = 0;
  await Promise.all(
    Array.from({ length: Math.min(parallel, files.length) }, async () => {
      for (let index = next++; index < files.length; index = next++) {
        const file = files[index];
        if (file) checked[index] = { file, asked: await checkFile(call, file) };
      }
    }),
  );
  return summarise(checked, options);
}

export function checkFile(call: Call, file: OpenFile): Promise<Asked<FileDiagnostic[]>[]> {
  return askAll<FileDiagnostic[]>(call, file.served.serving, {
    feature: features.diagnostics,
    file,
    isEmpty: (result) => result.length === 0,
    // every server may push; whether one pulls is looked up when it is asked
    supported: () => true,
    ask: async (session) => {
      const raw = await collectRaw(call, session);
      return raw.map((one) => describeDiagnostic(one, session.life.id, (uri) => pathOfUri(call, file, uri)));
    },
  });
}

function summarise(checked: readonly Checked[], options: CheckOptions): DiagnosticsData {
  const asked = checked.flatMap((one) => one.asked);
  const missing = checked.flatMap((one) => one.file.served.missing);
  const certain = (one: Checked) => one.asked.length > 0 && one.asked.every((answer) => isAnswer(answer.report));
  const all = checked.flatMap((one) => merge(one.asked).map((diagnostic) => ({ path: one.file.shown, diagnostic })));
  if (all.length === 0 && asked.length > 0 && !asked.some((one) => isAnswer(one.report)))
    throw unconfirmed(checked, asked);
  const shown = checked.map((one) => one.file.shown).join(", ");
  const answer = conclude({ feature: features.diagnostics, asked, missing, empty: all.length === 0, shown });
  const rank = (severity: Severity) => severities.indexOf(severity);
  const lowest = options.severity === "all" ? severities.length : rank(options.severity);
  const counts = { error: 0, warning: 0, information: 0, hint: 0 };
  for (const { diagnostic } of all) counts[diagnostic.severity]++;
  const visible = all.filter(({ diagnostic }) => rank(diagnostic.severity) <= lowest);
  const page = visible.slice(options.offset, options.offset + options.limit);
  return {
    ...answer,
    servers: mergeReports(answer.servers),
    files: checked.map((one) => ({
      path: one.file.shown,
      freshness: certain(one) ? ("current" as const) : ("unconfirmed" as const),
      diagnostics: page.filter(({ path }) => path === one.file.shown).map(({ diagnostic }) => diagnostic),
    })),
    counts,
    hidden: all.length - visible.length,
    total: visible.length,
    offset: options.offset,
    shown: page.length,
  };
}

function isAnswer(report: ServerReport): boolean {
  return report.outcome === "answered" || report.outcome === "empty";
}

/** Equal findings of two servers are one; in order of position, errors first. */
function merge(asked: readonly Asked<FileDiagnostic[]>[]): FileDiagnostic[] {
  const seen = new Map<string, FileDiagnostic>();
  for (const one of asked.flatMap((answer) => answer.result ?? [])) {
    const key = JSON.stringify([one.range, one.code, one.message]);
    if (!seen.has(key)) seen.set(key, one);
  }
  return [...seen.values()].sort(
    (a, b) => compareRanges(a.range, b.range) || severities.indexOf(a.severity) - severities.indexOf(b.severity),
  );
}

/** One line for each server over all files: the worst that happened. */
function mergeReports(reports: readonly ServerReport[]): ServerReport[] {
  const order = ["failed", "timed_out", "not_ready", "answered", "empty", "unsupported"];
  const merged = new Map<string, ServerReport>();
  for (const report of reports) {
    const key = `${report.id}\0${report.root}`;
    const known = merged.get(key);
    if (!known) merged.set(key, { ...report });
    else {
      const worse = order.indexOf(report.outcome) < order.indexOf(known.outcome) ? report : known;
      merged.set(key, { ...worse, ms: Math.max(known.ms, report.ms) });
    }
  }
  return [...merged.values()];
}

function unconfirmed(checked: readonly Checked[], asked: readonly Asked<unknown>[]): Error {
  const silent = asked.filter((one) => one.report.outcome === "timed_out" && !(one.error instanceof ToolError));
  if (silent.length !== asked.length) {
    const conclusion = () => conclude({ feature: features.diagnostics, asked, missing: [], empty: true, shown: "" });
    try {
      conclusion();
    } catch (error) {
      if (error instanceof Error) return error;
    }
  }
  const files = checked.map((one) => one.file.shown);
  const ids = [...new Set(asked.map((one) => one.report.id))].join(", ");
  const seconds = Math.round(Math.max(...asked.map((one) => one.report.ms)) / 100) / 10;
  const verb = ids.includes(",") ? "have" : "has";
  return new ToolError(
    "timeout",
    `${files.slice(0, 5).join(", ")}: ${ids} ${verb} not answered for this version within ${seconds} s; not known to be clean`,
    { hint: "call again, or raise timeouts.push of this server", details: { servers: asked.map((one) => one.report) } },
  );
}
