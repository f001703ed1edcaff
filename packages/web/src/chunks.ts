import { snapBack, snapForward } from "./untrusted.ts";

/** Most UTF-16 units of one chunk. */
export const chunkUnits = 24_000;

const fence = /^ {0,3}(`{3,}|~{3,})/;

/** Where a chunk that starts at `start` may end best: after a block, else between two lines, never inside a fence if it can be helped. */
function chunkEnd(text: string, start: number): number {
  const limit = start + chunkUnits;
  if (limit >= text.length) return text.length;
  let open: string | undefined;
  let block = -1;
  let line = -1;
  let anyLine = -1;
  let at = start;
  while (at < limit) {
    const newline = text.indexOf("\n", at);
    const next = newline < 0 ? text.length : newline + 1;
    const content = text.slice(at, newline < 0 ? next : newline);
    const mark = fence.exec(content)?.[1];
    if (mark !== undefined) {
      if (open === undefined) open = mark;
      else if (mark[0] === open[0] && mark.length >= open.length && content.trim() === mark) open = undefined;
    }
    if (next > limit) break;
    anyLine = next;
    if (open === undefined) {
      line = next;
      if (text[next] === "\n") block = next + 1 <= limit ? next + 1 : next;
    }
    at = next;
  }
  for (const end of [block, line, anyLine]) if (end > start) return end;
  return snapBack(text, limit);
}

/**
 * Ends of the chunks of a text, by one rule that depends on the text alone. The last one is the text's length.
 */
export function chunkEnds(text: string): readonly number[] {
  const ends: number[] = [];
  let at = 0;
  do {
    at = chunkEnd(text, at);
    ends.push(at);
  } while (at < text.length);
  return ends;
}

export interface Part {
  start: number;
  end: number;
}

export interface PartLimits {
  /** UTF-16 units. */
  units: number;
  /** Bytes of UTF-8. */
  bytes: number;
}

/** Where a text must be cut to hold a number of UTF-8 bytes; never inside a character. */
export function fitBytes(text: string, start: number, bytes: number): number {
  let left = bytes;
  let at = start;
  while (at < text.length) {
    const code = text.codePointAt(at) ?? 0;
    left -= code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (left < 0) break;
    at += code > 0xffff ? 2 : 1;
  }
  return at;
}

/**
 * The part that starts at an offset: it ends at the last chunk end within the limits, or at the limit when no chunk ends
 * there. Following `end` from part to part walks the text without gap or repeat.
 */
export function partAt(text: string, offset: number, limits: PartLimits): Part {
  const start = Math.min(snapForward(text, offset), text.length);
  const most = Math.min(
    fitBytes(text, start, limits.bytes),
    snapBack(text, Math.min(start + limits.units, text.length)),
  );
  if (most >= text.length) return { start, end: text.length };
  const end = chunkEnds(text)
    .filter((candidate) => candidate > start && candidate <= most)
    .at(-1);
  return { start, end: end ?? Math.max(most, Math.min(snapForward(text, start + 1), text.length)) };
}
