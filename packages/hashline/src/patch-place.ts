import type { Hunk } from "./patch.ts";

/** How strictly the lines of a hunk are compared with those of the file, from strict to loose. */
export const patchPasses = ["exact", "trailing", "indent", "lookalike"] as const;
export type PatchPass = (typeof patchPasses)[number];

export type HunkPlace =
  /** `at`: first line of the old block of `length` lines, or the line whose front gap a hunk without one fills. */
  | {
      readonly kind: "found";
      readonly at: number;
      readonly length: number;
      readonly pass: PatchPass;
      readonly appended: boolean;
    }
  | { readonly kind: "missing"; readonly what: string }
  | { readonly kind: "ambiguous"; readonly what: string; readonly lines: readonly number[] };

type Missed = Exclude<HunkPlace, { kind: "found" }>;

/** Looks for the place of a hunk at or behind line `from`. `texts`: the lines of the file. */
export function placeHunk(texts: readonly string[], hunk: Hunk, from: number): HunkPlace {
  const starts = headerStarts(texts, hunk.headers, from);
  if ("kind" in starts) return starts;
  const old = oldBlock(hunk);
  if (old.length === 0) return placeInsert(texts, hunk, starts);
  const place = placeBlock(texts, hunk, old, starts, from);
  if (place.kind !== "missing") return place;
  const shorter = old.slice(0, old.length - hunk.blankTail);
  for (const block of hunk.blankTail > 0 && shorter.length > 0 ? [old, shorter] : [old]) {
    const other =
      block === old ? atHeader(texts, hunk, block, starts, from) : placeBlock(texts, hunk, block, starts, from);
    if (other.kind !== "missing") return other;
  }
  return place;
}

/** The enclosing line may be sent once more as the first line of the block: then the block begins at it. */
function atHeader(
  texts: readonly string[],
  hunk: Hunk,
  old: readonly string[],
  starts: readonly number[],
  from: number,
): HunkPlace {
  const { headers } = hunk;
  const missing = { kind: "missing", what: "its lines were" } as const;
  if (headers.length === 0 || old[0]?.trim() !== headers.at(-1)) return missing;
  const begins = starts.map((start) => start - 1).filter((line) => line >= from);
  const place = placeBlock(texts, hunk, old, begins, from);
  return place.kind === "found" && !begins.includes(place.at) ? missing : place;
}

/** Whether the lines of a hunk stand somewhere before line `end`, and where. */
export function placeBefore(texts: readonly string[], hunk: Hunk, end: number): number | undefined {
  const old = oldBlock(hunk);
  if (old.length === 0) return undefined;
  return blockStarts(texts.map(trailing), old.map(trailing), 1).find((at) => at < end);
}

/** Context and removed lines in order. */
export function oldBlock(hunk: Hunk): readonly string[] {
  return hunk.lines.filter(({ sign }) => sign !== "+").map(({ text }) => text);
}

function placeBlock(
  texts: readonly string[],
  hunk: Hunk,
  old: readonly string[],
  starts: readonly number[],
  from: number,
): HunkPlace {
  for (const pass of patchPasses) {
    const all = blockStarts(texts.map(foldings[pass]), old.map(foldings[pass]), from).filter(
      (at) => !hunk.endOfFile || at + old.length - 1 === texts.length,
    );
    // Behind an enclosing line the block is the first one; without, every place counts.
    const found =
      hunk.headers.length === 0
        ? all
        : [...new Set(starts.flatMap((start) => all.find((at) => at >= start) ?? []))].sort((a, b) => a - b);
    if (found.length === 0) continue;
    const at = found.length === 1 ? found[0] : found.find((one) => one === hunk.lineHint);
    if (at !== undefined) return { kind: "found", at, length: old.length, pass, appended: false };
    return { kind: "ambiguous", what: "its lines stand", lines: found };
  }
  return { kind: "missing", what: "its lines were" };
}

function placeInsert(texts: readonly string[], hunk: Hunk, starts: readonly number[]): HunkPlace {
  if (hunk.headers.length === 0) {
    return { kind: "found", at: texts.length + 1, length: 0, pass: "exact", appended: !hunk.endOfFile };
  }
  const fitting = starts.filter((at) => !hunk.endOfFile || at === texts.length + 1);
  const [at, ...others] = fitting;
  if (at === undefined) return { kind: "missing", what: `"${hunk.headers.at(-1)}" as the last line of the file was` };
  if (others.length > 0) {
    return { kind: "ambiguous", what: `"${hunk.headers[0]}" stands`, lines: fitting.map((line) => line - 1) };
  }
  return { kind: "found", at, length: 0, pass: "exact", appended: false };
}

/** Lines right behind the enclosing lines: one for each line that the first of them may be. */
function headerStarts(texts: readonly string[], headers: readonly string[], from: number): readonly number[] | Missed {
  const [first, ...rest] = headers;
  if (first === undefined) return [from];
  const begins = linesLike(texts, first, from);
  if ("kind" in begins) return begins;
  const starts = new Set<number>();
  let missed: Missed | undefined;
  for (const begin of begins) {
    let at: number | undefined = begin;
    for (const header of rest) {
      const next: readonly number[] | Missed = linesLike(texts, header, (at ?? 0) + 1);
      if ("kind" in next) {
        missed = next;
        at = undefined;
        break;
      }
      at = next[0];
    }
    if (at !== undefined) starts.add(at + 1);
  }
  if (starts.size === 0 && missed) return missed;
  return [...starts].sort((a, b) => a - b);
}

/** Lines at or behind `from` that equal a text after trimming; if there is none, the sole one that contains it. */
function linesLike(texts: readonly string[], text: string, from: number): readonly number[] | Missed {
  const equal: number[] = [];
  const containing: number[] = [];
  for (let line = from; line <= texts.length; line++) {
    const trimmed = (texts[line - 1] ?? "").trim();
    if (trimmed === text) equal.push(line);
    else if (trimmed.includes(text)) containing.push(line);
  }
  if (equal.length > 0) return equal;
  if (containing.length > 1) return { kind: "ambiguous", what: `"${text}" stands`, lines: containing };
  // Some close the line as a unified diff does: "@@ def f(): @@".
  const closed = /^(.*\S)\s*@@$/.exec(text)?.[1];
  if (containing.length === 0 && closed !== undefined) {
    const found = linesLike(texts, closed, from);
    if (!("kind" in found && found.kind === "missing")) return found;
  }
  return containing.length === 1 ? containing : { kind: "missing", what: `its line "@@ ${text}" was` };
}

function blockStarts(texts: readonly string[], old: readonly string[], from: number): readonly number[] {
  const starts: number[] = [];
  const first = old[0] ?? "";
  for (let at = texts.indexOf(first, from - 1); at >= 0; at = texts.indexOf(first, at + 1)) {
    if (at + old.length > texts.length) break;
    if (old.every((line, index) => texts[at + index] === line)) starts.push(at + 1);
  }
  return starts;
}

function trailing(line: string): string {
  return line.replace(/[ \t\r]+$/, "");
}

function indent(line: string): string {
  return trailing(line).replace(/^[ \t]+/, "");
}

const foldings: Readonly<Record<PatchPass, (line: string) => string>> = {
  exact: (line) => line,
  trailing,
  indent,
  lookalike: (line) =>
    indent(
      line
        .replace(/[\u2010-\u2015\u2212\ufe58\ufe63\uff0d]/g, "-")
        .replace(/[\u2018-\u201b\u2032\uff07]/g, "'")
        .replace(/[\u201c-\u201f\u2033\u00ab\u00bb\uff02]/g, '"')
        .replace(/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "),
    ),
};
