import type { CallResult, Fact, RecordedChange } from "../facts.ts";
import { applyHunks, hunkCounts, hunksOf, hunksText } from "../hunks.ts";
import type { JsonRecord } from "../json-line.ts";
import { nonEmpty, object, text } from "../shapes.ts";

/** File changes that a `toolUseResult` of an editing tool records. Failed and denied calls change nothing. */
export function changesOf(line: JsonRecord, results: readonly CallResult[]): Fact[] {
  const result = object(line.toolUseResult);
  const path = nonEmpty(result?.filePath) ?? nonEmpty(result?.notebook_path);
  if (result === undefined || path === undefined || results.length !== 1) return [];
  const [call] = results;
  if (call === undefined || call.status !== "completed") return [];
  const change = changeOf(path, result);
  return change === undefined ? [] : [{ kind: "change", message: null, callId: call.callId, change }];
}

function changeOf(path: string, result: JsonRecord): RecordedChange | undefined {
  const original = text(result.originalFile) ?? text(result.original_file);
  const written = text(result.content) ?? text(result.updated_file);
  const hunks = hunksOf(result.structuredPatch);
  const edited = nonEmpty(result.oldString) !== undefined || text(result.newString) !== undefined;
  if (result.type === "create" || (written !== undefined && original === undefined && result.originalFile === null)) {
    return change(path, "create", null, written, null, written === undefined ? null : lineCount(written), 0);
  }
  if (written === undefined && hunks === undefined && !edited) return undefined;
  const counts = hunks === undefined || hunks.length === 0 ? undefined : hunkCounts(hunks);
  const after = written ?? afterEdit(original, result, hunks);
  const patch = hunks === undefined || hunks.length === 0 ? null : hunksText(hunks);
  return change(path, "modify", original, after, patch, counts?.additions ?? null, counts?.deletions ?? null);
}

function change(
  path: string,
  kind: RecordedChange["kind"],
  before: string | null | undefined,
  after: string | null | undefined,
  patch: string | null,
  additions: number | null,
  deletions: number | null,
): RecordedChange {
  return { path, from: null, kind, before, after, patch, additions, deletions };
}

/** The patch is what was written: a person may have changed the edit before it was accepted. */
function afterEdit(
  original: string | undefined,
  result: JsonRecord,
  hunks: ReturnType<typeof hunksOf>,
): string | undefined {
  if (original === undefined) return undefined;
  if (hunks !== undefined && hunks.length > 0) return applyHunks(original, hunks);
  const oldText = text(result.oldString);
  const newText = text(result.newString);
  if (oldText === undefined || newText === undefined || oldText === "" || !original.includes(oldText)) return undefined;
  return result.replaceAll === true
    ? original.replaceAll(oldText, () => newText)
    : original.replace(oldText, () => newText);
}

function lineCount(content: string): number {
  if (content === "") return 0;
  const breaks = content.split("\n").length;
  return content.endsWith("\n") ? breaks - 1 : breaks;
}
