import type { CallResult, Fact, RecordedChange } from "../facts.ts";
import { hunkCounts, hunksText, parseUnified } from "../hunks.ts";
import type { JsonRecord } from "../json-line.ts";
import { nonEmpty, object, text } from "../shapes.ts";

/** Changes of a `patch_apply_end` that succeeded. */
export function patchChanges(event: JsonRecord, results: readonly CallResult[]): Fact[] {
  if (event.success !== true) return [];
  const callId = results[0]?.callId ?? null;
  return Object.entries(object(event.changes) ?? {}).flatMap(([path, value]): Fact[] => {
    const change = changeOf(path, object(value));
    return change === undefined
      ? [{ kind: "problem", code: "damaged_part" }]
      : [{ kind: "change", message: null, callId, change }];
  });
}

function changeOf(path: string, value: JsonRecord | undefined): RecordedChange | undefined {
  if (value === undefined) return undefined;
  const [type, inner] = taggedBy(value);
  const content = text(inner.content);
  switch (type) {
    case "add":
      return whole(path, "create", null, content ?? "");
    case "delete":
      return whole(path, "delete", content, null);
    case "update": {
      const hunks = parseUnified(text(inner.unified_diff) ?? "");
      const moved = nonEmpty(inner.move_path);
      return {
        path: moved ?? path,
        from: moved === undefined ? null : path,
        kind: moved === undefined ? "modify" : "move",
        before: undefined,
        after: undefined,
        patch: hunksText(hunks),
        ...hunkCounts(hunks),
      };
    }
    default:
      return undefined;
  }
}

/** `{ type: "add", … }`, or in older files `{ add: { … } }`. */
function taggedBy(value: JsonRecord): [string, JsonRecord] {
  const type = nonEmpty(value.type);
  if (type !== undefined) return [type, value];
  for (const tag of ["add", "delete", "update"]) {
    const inner = object(value[tag]);
    if (inner !== undefined) return [tag, inner];
  }
  return ["", value];
}

function whole(
  path: string,
  kind: "create" | "delete",
  before: string | null | undefined,
  after: string | null,
): RecordedChange {
  const lines = (content: string | null | undefined) =>
    content === null || content === undefined || content === "" ? 0 : content.replace(/\n$/, "").split("\n").length;
  return { path, from: null, kind, before, after, patch: null, additions: lines(after), deletions: lines(before) };
}

/**
 * Changes of an `apply_patch` call in the V4A form, for files whose `patch_apply_end` is missing; used only when the call's
 * output says that it succeeded.
 */
export function envelopeChanges(patch: string): RecordedChange[] {
  const changes: RecordedChange[] = [];
  let open: { path: string; kind: RecordedChange["kind"]; to: string | null; lines: string[] } | undefined;
  const finish = () => {
    if (open === undefined) return;
    const { path, kind, to, lines } = open;
    const added = lines.filter((line) => line.startsWith("+"));
    const removed = lines.filter((line) => line.startsWith("-"));
    if (kind === "create")
      changes.push(whole(path, "create", null, added.map((line) => `${line.slice(1)}\n`).join("")));
    else if (kind === "delete") changes.push(whole(path, "delete", undefined, null));
    else {
      changes.push({
        path: to ?? path,
        from: to === null ? null : path,
        kind: to === null ? "modify" : "move",
        before: undefined,
        after: undefined,
        patch: lines.length === 0 ? null : `${lines.join("\n")}\n`,
        additions: added.length,
        deletions: removed.length,
      });
    }
    open = undefined;
  };
  for (const line of patch.split(/\r?\n/)) {
    const head = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line);
    if (head) {
      finish();
      const kind = head[1] === "Add" ? "create" : head[1] === "Delete" ? "delete" : "modify";
      open = { path: (head[2] ?? "").trim(), kind, to: null, lines: [] };
    } else if (line.startsWith("*** Move to: ") && open !== undefined)
      open.to = line.slice("*** Move to: ".length).trim();
    else if (line.startsWith("*** End Patch")) finish();
    else if (open !== undefined && !line.startsWith("***")) open.lines.push(line);
  }
  finish();
  return changes;
}
