import { posix } from "node:path";
import { ToolError } from "@toolhaft/core";
import {
  carryIndent,
  closestPlaces,
  type LineChange,
  type LineSplice,
  parseText,
  payloadProblem,
  spliceLines,
  type TextFile,
} from "@toolhaft/workspace";
import type { Warning } from "./edit-warnings.ts";
import { textWarnings } from "./edit-warnings.ts";
import type { Hunk, Patch, PatchSection } from "./patch.ts";
import { oldBlock, type PatchPass, placeBefore, placeHunk } from "./patch-place.ts";

/** What a patch does to one file. */
export interface PatchedFile {
  readonly kind: "add" | "update" | "delete" | "move";
  readonly path: string;
  readonly to?: string;
  /** The new text; `undefined` where the file is deleted. */
  readonly bytes: Uint8Array | undefined;
  readonly changes: readonly LineChange[];
  /** Line of the old file where each hunk was placed, and how. */
  readonly hunks: readonly { line: number; pass: string }[];
  readonly warnings: readonly Warning[];
}

export interface PatchPlan {
  readonly files: readonly PatchedFile[];
}

type Update = Extract<PatchSection, { kind: "update" }>;

/** Sections with two updates of one file made one. */
export interface MergedSection {
  readonly section: PatchSection;
  /** Hunks of each section; every one searches from the top. */
  readonly rounds: readonly (readonly Hunk[])[];
}

/**
 * Every path a patch touches, once, in order.
 *
 * @throws ToolError `invalid_input` for a path that is named twice
 */
export function mergeSections(patch: Patch): readonly MergedSection[] {
  const merged = new Map<string, { section: PatchSection; rounds: (readonly Hunk[])[] }>();
  for (const section of patch.sections) {
    const key = posix.normalize(section.path);
    const known = merged.get(key);
    const rounds = section.kind === "update" ? [section.hunks] : [];
    if (!known) {
      merged.set(key, { section: inPlace(section), rounds });
    } else if (known.section.kind === "update" && section.kind === "update") {
      known.section = joined(known.section, section);
      known.rounds.push(...rounds);
    } else {
      throw twice(section.path, section.patchLine);
    }
  }
  const taken = new Set(merged.keys());
  for (const { section } of merged.values()) {
    if (section.kind !== "update" || section.moveTo === undefined) continue;
    const to = posix.normalize(section.moveTo);
    if (taken.has(to)) throw twice(section.moveTo, section.patchLine);
    taken.add(to);
  }
  return [...merged.values()];
}

function twice(path: string, patchLine: number): ToolError {
  return new ToolError("invalid_input", `patch line ${patchLine}: ${path} is named twice`, {
    hint: "one section a file; only updates of one file may stand in several",
    details: { patchLine },
  });
}

/** A move to the path the file has is none. */
function inPlace(section: PatchSection): PatchSection {
  if (section.kind !== "update" || section.moveTo === undefined) return section;
  if (posix.normalize(section.moveTo) !== posix.normalize(section.path)) return section;
  const { moveTo: _, ...rest } = section;
  return rest;
}

function joined(first: Update, second: Update): Update {
  const next = inPlace(second);
  const moveTo = next.kind === "update" ? next.moveTo : undefined;
  if (moveTo === undefined) return first;
  if (first.moveTo !== undefined && posix.normalize(first.moveTo) !== posix.normalize(moveTo)) {
    throw twice(first.path, second.patchLine);
  }
  return { ...first, moveTo };
}

/** Paths that a patch reads or writes. */
export function patchPaths(merged: readonly MergedSection[]): readonly string[] {
  return merged.flatMap(({ section }) =>
    section.kind === "update" && section.moveTo !== undefined ? [section.path, section.moveTo] : [section.path],
  );
}

/**
 * Places every hunk of a patch in the files, which are keyed by the paths of the patch. Pure.
 *
 * @throws ToolError `conflict` for a hunk that fits nowhere or in several places, and for files that are in the way;
 *   `not_found` for a file that is to be changed and is not there
 */
export function planPatch(patch: Patch, files: ReadonlyMap<string, TextFile | undefined>): PatchPlan {
  return {
    files: mergeSections(patch).map(({ section, rounds }) => {
      const file = files.get(section.path);
      if (section.kind === "add") return planAdd(section.path, section.lines, file);
      if (!file) {
        throw new ToolError("not_found", `no file ${section.path}`, {
          hint: `check the path; "*** Add File: ${section.path}" creates it`,
        });
      }
      if (section.kind === "delete") {
        const changes = [{ oldStart: 1, oldLines: file.lineCount, newStart: 1, newLines: 0 }];
        return { kind: "delete", path: section.path, bytes: undefined, changes, hunks: [], warnings: [] };
      }
      const { moveTo } = section;
      if (moveTo !== undefined && files.get(moveTo)) throw inTheWay(moveTo);
      return { ...planUpdate(section, rounds, file), ...(moveTo === undefined ? {} : { kind: "move", to: moveTo }) };
    }),
  };
}

function inTheWay(path: string): ToolError {
  return new ToolError("conflict", `${path} exists already`, {
    hint: "delete it in an earlier call, or choose another path",
  });
}

function planAdd(path: string, lines: readonly string[], file: TextFile | undefined): PatchedFile {
  if (file) throw inTheWay(path);
  checkLines(path, lines);
  const warnings = [...textWarnings(lines, 1)];
  const [first, ...rest] = lines;
  let written = lines;
  if (first?.startsWith("\ufeff")) {
    written = [first.slice(1), ...rest];
    warnings.push({ code: "bom_ignored", line: 1, message: "the byte order mark of its first line was not written" });
  }
  const { bytes, changes } = spliceLines(parseText(new Uint8Array()), [{ at: 1, remove: 0, insert: written }]);
  return { kind: "add", path, bytes, changes, hunks: [], warnings };
}

function checkLines(path: string, lines: readonly string[]): void {
  for (const line of lines) {
    const problem = payloadProblem(line);
    if (problem) {
      throw new ToolError("invalid_input", `an added line of ${path} ${problem}`, {
        hint: "send plain text without it",
      });
    }
  }
}

interface PlacedHunk {
  readonly hunk: Hunk;
  readonly at: number;
  readonly end: number;
  readonly pass: PatchPass;
  readonly appended: boolean;
}

function planUpdate(section: Update, rounds: readonly (readonly Hunk[])[], file: TextFile): PatchedFile {
  const texts = Array.from({ length: file.lineCount }, (_, index) => file.text(index + 1));
  const placed: PlacedHunk[] = [];
  let number = 0;
  for (const hunks of rounds) {
    let from = 1;
    for (const hunk of hunks) {
      number++;
      const one = place(section.path, file, texts, hunk, from, number);
      placed.push(one);
      from = one.appended ? from : Math.max(from, one.end + 1);
    }
  }
  const splices: LineSplice[] = [];
  const warnings: Warning[] = [];
  for (const one of placed) splices.push(...splicesOf(section.path, one, texts, warnings));
  checkOverlaps(section, placed);
  const hunks = placed.map(({ at, pass }) => ({ line: at, pass }));
  const { bytes, changes } = spliceLines(file, splices);
  if (bytes.length === (file.bom ? 3 : 0) && file.lineCount > 0) {
    warnings.push({ code: "file_emptied", message: "the file has no lines left" });
  }
  return { kind: "update", path: section.path, bytes, changes, hunks, warnings };
}

function place(
  path: string,
  file: TextFile,
  texts: readonly string[],
  hunk: Hunk,
  from: number,
  number: number,
): PlacedHunk {
  checkLines(
    path,
    hunk.lines.filter(({ sign }) => sign === "+").map(({ text }) => text),
  );
  const found = placeHunk(texts, hunk, from);
  const which = `${path}: hunk ${number} (patch line ${hunk.patchLine})`;
  if (found.kind === "ambiguous") {
    const lines = found.lines.slice(0, 50).join(", ");
    throw new ToolError("conflict", `${which} is ambiguous: ${found.what} at lines ${lines}`, {
      hint: 'add "@@ enclosing line" before the hunk, or more context lines',
      details: { filePath: path, hunk: number, lines: found.lines.slice(0, 50) },
    });
  }
  if (found.kind === "missing") throw notPlaced(which, path, file, texts, hunk, from, number, found.what);
  return { hunk, at: found.at, end: found.at + found.length - 1, pass: found.pass, appended: found.appended };
}

function notPlaced(
  which: string,
  path: string,
  file: TextFile,
  texts: readonly string[],
  hunk: Hunk,
  from: number,
  number: number,
  what: string,
): ToolError {
  const closest = closestPlaces(file, oldBlock(hunk)).slice(0, 1);
  const behind = from > 1 ? ` behind line ${from - 1}, where the hunk before it ends` : "";
  const earlier = from > 1 ? placeBefore(texts, hunk, from) : undefined;
  if (earlier !== undefined) {
    return new ToolError(
      "conflict",
      `${which} fits nowhere: ${what} not found in ${path}${behind}; they stand before it, at line ${earlier}`,
      {
        hint: "give the hunks of a file from top to bottom, or in an Update section of their own",
        details: { filePath: path, hunk: number, closest },
      },
    );
  }
  const shown = closest.map(
    ({ line, endLine, similarity, diff }) =>
      `. Closest place: lines ${line}-${endLine}, ${Math.round(similarity * 100)} % alike (- as sent, + in the file):\n${diff.trimEnd()}`,
  );
  return new ToolError("conflict", `${which} fits nowhere: ${what} not found in ${path}${behind}${shown.join("")}`, {
    hint: namesFiles(hunk)
      ? 'leave the lines "---" and "+++" out: "*** Update File" names the file'
      : "copy the lines from the file",
    details: { filePath: path, hunk: number, closest },
  });
}

/** The header of a unified diff, taken for lines of the file. */
function namesFiles({ lines: [first, second] }: Hunk): boolean {
  return first?.sign === "-" && first.text.startsWith("-- ") && second?.sign === "+" && second.text.startsWith("++ ");
}

/** Runs of removed and added lines as splices; context keeps the bytes of the file. */
function splicesOf(
  path: string,
  one: PlacedHunk,
  texts: readonly string[],
  warnings: Warning[],
): readonly LineSplice[] {
  const { hunk, at, end, pass, appended } = one;
  const loose = pass === "indent" || pass === "lookalike";
  const found = texts.slice(at - 1, end);
  const wanted = oldBlock(hunk).slice(0, found.length);
  const splices: { at: number; remove: number; insert: string[] }[] = [];
  let line = at;
  let open: { at: number; remove: number; insert: string[] } | undefined;
  for (const { sign, text } of hunk.lines) {
    if (sign === " ") {
      open = undefined;
      line++;
      continue;
    }
    if (!open) {
      open = { at: line, remove: 0, insert: [] };
      splices.push(open);
    }
    if (sign === "+") {
      open.insert.push(text);
    } else {
      open.remove++;
      line++;
    }
  }
  if (loose) {
    for (const splice of splices) splice.insert = [...carryIndent(wanted, found, splice.insert, at)];
    const message = `${path}: the hunk at lines ${at}-${end} was found by ${pass} only`;
    warnings.push({ code: "loose_match", line: at, message });
  }
  if (appended) {
    const message = "a hunk of added lines without @@ line was put at the end of the file";
    warnings.push({ code: "appended_at_end", line: at, message });
  }
  const added = hunk.lines.filter(({ sign }) => sign === "+").map(({ text }) => text);
  warnings.push(...textWarnings(added, at));
  return splices.filter(({ remove, insert }) => remove > 0 || insert.length > 0);
}

/** Hunks of different sections that touch the same lines. */
function checkOverlaps(section: Update, placed: readonly PlacedHunk[]): void {
  const ordered = placed
    .map((one, index) => ({ ...one, number: index + 1 }))
    .sort((a, b) => a.at - b.at || a.end - b.end);
  for (const [index, one] of ordered.entries()) {
    const before = ordered[index - 1];
    if (before && one.at <= before.end && before.end >= before.at) {
      throw new ToolError(
        "invalid_input",
        `${section.path}: hunks ${before.number} and ${one.number} overlap at line ${one.at}`,
        { hint: "join hunks that share lines into one" },
      );
    }
  }
}
