import { isAbsolute, relative } from "node:path";
import { compareLines, parseText, type TextModel, unifiedDiff } from "@toolhaft/workspace";
import { hunkCounts, parseUnified } from "./hunks.ts";
import type { Changes, RecordedFileChange } from "./store.ts";

export interface FileDiff {
  /** Relative to the session's directory, absolute outside. */
  path: string;
  from: string | null;
  kind: "create" | "modify" | "delete" | "move";
  additions: number;
  deletions: number;
  diff: string;
  truncated: boolean;
  /** `exact`: applies to the first recorded state. `sequence`: the patches in order. `partial`: see the note. */
  certainty: "exact" | "sequence" | "partial";
  note: string | null;
}

type Side = Uint8Array | null;

interface FileHistory {
  path: string;
  from: string | null;
  steps: RecordedFileChange[];
}

/** What a session did to each file, as one diff from the first recorded state to the last. */
export function diffFiles(changes: Changes, directory: string | null): FileDiff[] {
  return histories(changes.changes).flatMap((history) => {
    const diff = diffOf(history, directory);
    return diff === undefined ? [] : [diff];
  });
}

/** Changes by file, in the order of the first; a moved file keeps its history. */
function histories(changes: readonly RecordedFileChange[]): FileHistory[] {
  const open = new Map<string, FileHistory>();
  const all: FileHistory[] = [];
  for (const change of changes) {
    const at = change.from ?? change.path;
    let history = open.get(at);
    if (history === undefined) {
      history = { path: change.path, from: null, steps: [] };
      all.push(history);
    }
    if (change.from !== null) {
      history.from ??= change.from;
      open.delete(change.from);
    }
    history.path = change.path;
    history.steps.push(change);
    open.set(change.path, history);
  }
  return all;
}

function diffOf(history: FileHistory, directory: string | null): FileDiff | undefined {
  const path = shown(history.path, directory);
  const from = history.from === null || history.from === history.path ? null : shown(history.from, directory);
  const known = history.steps.every(({ before, after }) => before !== undefined && after !== undefined);
  return known ? fromTexts(history, path, from) : fromPatches(history, path, from);
}

function fromTexts(history: FileHistory, path: string, from: string | null): FileDiff | undefined {
  const first = history.steps[0]?.before ?? null;
  const last = history.steps.at(-1)?.after ?? null;
  if (first === null && last === null) return undefined;
  if (from === null && sameBytes(first, last)) return undefined;
  const broken = history.steps.some(
    (step, at) => at > 0 && !sameBytes(history.steps[at - 1]?.after ?? null, step.before ?? null),
  );
  const kind = first === null ? "create" : last === null ? "delete" : from === null ? "modify" : "move";
  const shared = { path, from, kind } as const;
  if (isBinary(first) || isBinary(last)) {
    const sizes = `${sizeOf(first)} to ${sizeOf(last)}`;
    return {
      ...shared,
      additions: 0,
      deletions: 0,
      diff: "",
      truncated: false,
      certainty: "exact",
      note: `binary file, ${sizes}`,
    };
  }
  const before = modelOf(first);
  const after = modelOf(last);
  const lines = before === null || after === null ? [] : compareLines(before, after, { terminators: true }).changes;
  const diff = unifiedDiff(before, after, lines, { before: from ?? path, after: path });
  return {
    ...shared,
    additions: diff.additions,
    deletions: diff.deletions,
    diff: diff.text,
    truncated: diff.truncated,
    certainty: broken ? "partial" : "exact",
    note: broken ? "the file was changed outside this session between two edits" : null,
  };
}

/** The host's patches one after another: each is valid on what the one before left. */
function fromPatches(history: FileHistory, path: string, from: string | null): FileDiff | undefined {
  const created = history.steps[0]?.before === null;
  const deleted = history.steps.at(-1)?.kind === "delete";
  if (created && deleted) return undefined;
  let additions = 0;
  let deletions = 0;
  let missing = 0;
  const sections: string[] = [];
  for (const step of history.steps) {
    const section = sectionOf(step, path, from);
    if (section === undefined) missing += 1;
    else {
      sections.push(section.text);
      additions += section.additions;
      deletions += section.deletions;
    }
  }
  return {
    path,
    from,
    kind: created ? "create" : deleted ? "delete" : from === null ? "modify" : "move",
    additions,
    deletions,
    ...capped(sections.join("")),
    certainty: missing > 0 ? "partial" : "sequence",
    note: missing > 0 ? `${missing} of ${history.steps.length} changes are recorded without their text` : null,
  };
}

function sectionOf(
  step: RecordedFileChange,
  path: string,
  from: string | null,
): { text: string; additions: number; deletions: number } | undefined {
  if (step.patch?.startsWith("@@ -")) {
    const head = `--- a/${from ?? path}\n+++ b/${path}\n`;
    return { text: head + step.patch, ...hunkCounts(parseUnified(step.patch)) };
  }
  if (step.before === undefined || step.after === undefined) {
    return step.patch === null
      ? undefined
      : { text: step.patch, additions: step.additions ?? 0, deletions: step.deletions ?? 0 };
  }
  const before = modelOf(step.before);
  const after = modelOf(step.after);
  const lines = before === null || after === null ? [] : compareLines(before, after, { terminators: true }).changes;
  const diff = unifiedDiff(before, after, lines, { before: from ?? path, after: path });
  return { text: diff.text, additions: diff.additions, deletions: diff.deletions };
}

const longestDiff = 64 * 1024;

/** Cut at a whole hunk. */
export function capped(diff: string, limit = longestDiff): { diff: string; truncated: boolean } {
  if (Buffer.byteLength(diff) <= limit) return { diff, truncated: false };
  let kept = "";
  for (const hunk of diff.split(/(?=^@@ |^--- )/m)) {
    if (Buffer.byteLength(kept) + Buffer.byteLength(hunk) > limit) break;
    kept += hunk;
  }
  return { diff: kept, truncated: true };
}

function shown(path: string, directory: string | null): string {
  if (directory === null || !isAbsolute(path)) return path;
  const inside = relative(directory, path);
  return inside === "" || inside.startsWith("..") || isAbsolute(inside) ? path : inside.replaceAll("\\", "/");
}

function modelOf(side: Side): TextModel | null {
  return side === null ? null : parseText(side);
}

function sameBytes(a: Side, b: Side): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a, b) === 0;
}

function isBinary(side: Side): boolean {
  return side?.includes(0) ?? false;
}

function sizeOf(side: Side): string {
  return side === null ? "none" : `${side.length} bytes`;
}
