import { analyse, foldWord, splitRuns } from "@toolhaft/text";
import { CodeWriter, PieceTable } from "./piece-table.ts";

const word = /[\p{L}\p{N}\p{M}]+/gu;
const letters = /^\p{L}[\p{L}\p{M}]*$/u;
const blank = 0x20;

/** Longest piece that is worth remembering, in UTF-16 units. */
const longestKept = 64;
/** Pieces that are remembered: texts of one kind repeat their words. */
const mostKept = 1 << 16;

/**
 * Makes a function that gives the terms of a text for the index, joined by blanks: those of the analyser, whole words
 * beside their stems so that the beginning of a word finds it, and of scripts without blanks every two letters side by
 * side with the last one of each run, which is all that a query of such a script asks for.
 *
 * It remembers the terms of the pieces between blanks and works on character codes: cutting out and analysing every
 * word took two thirds of a first index. One should serve many texts and then be dropped.
 */
export function createIndexTerms(): (text: string) => string {
  let pieces = new PieceTable(mostKept);
  let wholeOf: (readonly string[])[] = [];
  let seenIn: number[] = [];
  let texts = 0;
  const out = new CodeWriter();
  const made = new CodeWriter();

  return (text) => {
    out.clear();
    texts++;
    const whole = new Set<string>();
    for (let next = 0; next < text.length; ) {
      const { hash, from, to } = pieces.readAt(text, next);
      next = pieces.next;
      if (from === to) continue;
      if (to - from > longestKept) {
        for (const one of writeTerms(text.slice(from, to), out)) whole.add(one);
        continue;
      }
      let piece = pieces.find(hash, text, from, to);
      if (piece < 0) {
        if (pieces.isFull) {
          pieces = new PieceTable(mostKept);
          wholeOf = [];
          seenIn = [];
          pieces.next = next;
        }
        made.clear();
        const words = writeTerms(text.slice(from, to), made);
        piece = pieces.add(hash, text, from, to, made);
        wholeOf[piece] = words;
      }
      pieces.copyTo(piece, out);
      if (seenIn[piece] === texts) continue;
      seenIn[piece] = texts;
      for (const one of wholeOf[piece] ?? []) whole.add(one);
    }
    for (const one of whole) {
      out.writeText(one);
      out.write(blank);
    }
    return out.text();
  };
}

/** Terms of one text for the index. */
export function indexTerms(text: string): string {
  return createIndexTerms()(text);
}

/** Writes the terms of a piece, a blank after each; gives the words of which they hold only the stem. */
function writeTerms(piece: string, out: CodeWriter): readonly string[] {
  const whole = new Set<string>();
  for (const run of splitRuns(piece.normalize("NFKC"))) {
    if (run.dense) {
      writePairs(run.text, out);
      continue;
    }
    for (const [one] of run.text.matchAll(word)) if (one.length > 3 && letters.test(one)) whole.add(foldWord(one));
    for (const term of analyse(run.text)) {
      out.writeText(term);
      out.write(blank);
      whole.delete(term);
    }
  }
  return [...whole];
}

/** Every two letters side by side, and the last one alone. */
function writePairs(run: string, out: CodeWriter): void {
  for (let at = 0; at < run.length; ) {
    const next = at + sizeAt(run, at);
    const end = next < run.length ? next + sizeAt(run, next) : next;
    for (let i = at; i < end; i++) out.write(run.charCodeAt(i));
    out.write(blank);
    at = next;
  }
}

function sizeAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
