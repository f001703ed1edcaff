import { mapLine, type TextFile } from "@toolhaft/workspace";
import type { TextCodes } from "./anchor.ts";
import type { ParsedEdit } from "./edit.ts";
import { anchorProblems, anchorsOf } from "./edit-plan.ts";
import type { Problem } from "./problem.ts";
import type { Passage, Snapshot } from "./snapshots.ts";

/** The lines of the present file that edits mean. */
export interface Resolved {
  /** Leads from the version the edits were made for to the present file. */
  readonly map: (line: number) => number;
  /** The version the edits were made for, all digits. */
  readonly version: string;
  /** Anchors whose line has another number now. */
  readonly remapped: readonly { given: string; applied: string }[];
  readonly steps: Passage["steps"];
}

export interface Stale {
  readonly problems: readonly Problem[];
  /** How lines moved, where the version is known; marks follow it. */
  readonly passage?: { readonly version: string; readonly steps: Passage["steps"] };
}

export interface ResolveRequest {
  /** As shown to the caller. */
  readonly name: string;
  readonly file: TextFile;
  readonly codes: TextCodes;
  /** As given, lower case. */
  readonly version: string;
  readonly edits: readonly ParsedEdit[];
  readonly mode: "remap" | "reject";
  /** A known snapshot of the given version. */
  readonly snapshot: Snapshot | undefined;
  codesOf(snapshot: Snapshot): TextCodes;
  passage(snapshot: Snapshot): Passage;
}

export function shortVersion(version: string): string {
  return version.slice(0, 12);
}

/** Decides for one file, under its lock, what the anchors of its edits mean now. */
export function resolveEdits(request: ResolveRequest): Resolved | Stale {
  const { file, codes, version, edits, snapshot } = request;
  if (file.version.startsWith(version)) {
    const problems = anchorProblems(codes, edits);
    return problems.length > 0 ? { problems } : { map: (line) => line, version: file.version, remapped: [], steps: [] };
  }
  if (!snapshot || request.mode === "reject") return { problems: unknownVersion(request) };

  const passage = request.passage(snapshot);
  const known = { version: snapshot.version, steps: passage.steps };
  const wrong = anchorProblems(request.codesOf(snapshot), edits).map((problem) => ({
    ...problem,
    reason: `${problem.reason} (in version ${shortVersion(snapshot.version)})`,
    show: (problem.show ?? []).map((line) => nearestNow(line, passage, file.lineCount)),
  }));
  if (wrong.length > 0) return { problems: wrong, passage: known };

  const lost = edits.flatMap((edit) => lostPlaces(request, snapshot, passage, edit));
  if (lost.length > 0) return { problems: lost, passage: known };
  return {
    map: (line) => passage.map(line) ?? line,
    version: snapshot.version,
    remapped: movedAnchors(codes, passage, edits),
    steps: passage.steps,
  };
}

function unknownVersion({ name, file, version, edits, mode, snapshot }: ResolveRequest): readonly Problem[] {
  const why = mode === "reject" && snapshot ? "" : ", which is not known here";
  const show = edits.flatMap((edit) => anchorsOf(edit).map(({ line }) => line));
  return [
    {
      edit: null,
      code: "conflict",
      reason: `${name} is at version ${shortVersion(file.version)}, not ${shortVersion(version)}${why}`,
      hint: useVersion(file.version),
      expected: file.version,
      actual: version,
      show: show.length > 0 ? show : [1],
    },
  ];
}

export function useVersion(version: string): string {
  return `send the edits again with version "${shortVersion(version)}" and the anchors shown here`;
}

/** Ranges of an edit that are not all there in one run, and anchors that are gone. */
function lostPlaces(
  { name, file }: ResolveRequest,
  snapshot: Snapshot,
  passage: Passage,
  edit: ParsedEdit,
): readonly Problem[] {
  return rangesOf(edit).flatMap(([first, last]): Problem[] => {
    const lines = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    const gone = lines.find((line) => passage.map(line) === undefined);
    const start = passage.map(first);
    const apart = gone === undefined && start !== undefined && passage.map(last) !== start + last - first;
    if (gone === undefined && !apart) return [];
    const what =
      gone === undefined
        ? `lines ${first}-${last} are no longer together`
        : occurs(file, snapshot.text.text(gone))
          ? `line ${gone} cannot be told from lines like it`
          : `line ${gone} was edited`;
    const change = `${name} changed since ${shortVersion(snapshot.version)}, now ${shortVersion(file.version)}`;
    return [
      {
        edit: edit.index,
        code: "conflict",
        reason: `${change}; ${what}, so edit ${edit.index + 1} has no place`,
        hint: useVersion(file.version),
        line: gone ?? first,
        expected: file.version,
        actual: snapshot.version,
        show: [first, last, ...(gone === undefined ? [] : [gone])].map((line) =>
          nearestNow(line, passage, file.lineCount),
        ),
      },
    ];
  });
}

function rangesOf({ pos, end, payload }: ParsedEdit): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  if (pos) ranges.push([pos.line, (end ?? pos).line]);
  if ("first" in payload) ranges.push([payload.first.line, payload.last.line]);
  return ranges;
}

function occurs(file: TextFile, text: string): boolean {
  for (let line = 1; line <= file.lineCount; line++) if (file.text(line) === text) return true;
  return false;
}

/** Where a line that may be gone would be: as many lines behind what it followed as before. */
function nearestNow(line: number, passage: Passage, lineCount: number): number {
  let at = line;
  for (const changes of passage.steps) {
    const mapped = mapLine(changes, at);
    if (mapped !== undefined) {
      at = mapped;
      continue;
    }
    const change = changes.findLast(({ oldStart }) => oldStart <= at);
    if (change) at = change.newStart + Math.min(at - change.oldStart, Math.max(0, change.newLines - 1));
  }
  return Math.min(Math.max(1, at), Math.max(1, lineCount));
}

function movedAnchors(
  codes: TextCodes,
  passage: Passage,
  edits: readonly ParsedEdit[],
): readonly { given: string; applied: string }[] {
  const moved = new Map<string, string>();
  for (const edit of edits) {
    for (const { line, hash } of anchorsOf(edit)) {
      const now = passage.map(line);
      if (now === undefined) continue;
      const { start, end } = codes.text.line(now);
      const applied = `${now}#${codes.hasher.code(codes.text.bytes, start, end, codes.width)}`;
      const given = `${line}#${hash}`;
      if (applied !== given) moved.set(given, applied);
    }
  }
  return [...moved].map(([given, applied]) => ({ given, applied }));
}
