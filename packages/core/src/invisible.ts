/**
 * The one list of characters that a reader cannot see or that change the order of what is read: C0 and C1 controls
 * except newline and tab, bidi controls, zero-width and filler characters, tags, and variation selectors of the
 * supplementary plane.
 *
 * @see https://www.unicode.org/reports/tr36/ and https://www.unicode.org/reports/tr9/
 */
const ranges: readonly (readonly [number, number])[] = [
  [0x00, 0x08],
  [0x0b, 0x1f],
  [0x7f, 0x9f],
  [0xad, 0xad], // soft hyphen
  [0x34f, 0x34f], // combining grapheme joiner
  [0x61c, 0x61c], // Arabic letter mark
  [0x115f, 0x1160], // Hangul fillers
  [0x17b4, 0x17b5],
  [0x180b, 0x180f], // Mongolian selectors
  [0x200b, 0x200f], // zero width, left-to-right and right-to-left marks
  [0x2028, 0x202e], // line and paragraph separators, embeddings, overrides
  [0x2060, 0x206f], // word joiner, invisible operators, isolates
  [0x3164, 0x3164],
  [0xfeff, 0xfeff],
  [0xffa0, 0xffa0],
  [0xfff9, 0xfffb],
  [0x1d173, 0x1d17a],
  [0xe0000, 0xe007f], // tags
  [0xe0100, 0xe01ef], // variation selectors supplement
];
const invisible = new RegExp(
  `[${ranges.map(([from, to]) => `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`).join("")}]`,
  "gu",
);

/** Joins emoji (U+200D) or letters of scripts that need joiners (U+200C, U+200D): visible in effect, so left alone. */
const joined = /\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}]/u;
const joiningScript =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

export interface Invisible {
  /** What it is called in a message: `U+202E`. */
  name: string;
  /** UTF-16 offset. */
  start: number;
  end: number;
}

/** Every invisible, bidi or tag character of a text; joiners inside emoji and joining scripts are not counted. */
export function findInvisible(text: string): Invisible[] {
  const found: Invisible[] = [];
  for (const match of text.matchAll(invisible)) {
    const [character] = match;
    if (isJoiner(text, match.index, character)) continue;
    found.push({ name: codePointName(character), start: match.index, end: match.index + character.length });
  }
  return found;
}

/** The text with every character of {@link findInvisible} written as `\u{…}`, so that a reader sees it. */
export function showInvisible(text: string): string {
  return text.replace(invisible, (character, index: number) =>
    isJoiner(text, index, character) ? character : `\\u{${hex(character)}}`,
  );
}

function isJoiner(text: string, index: number, character: string): boolean {
  if (character !== "\u200c" && character !== "\u200d") return false;
  const before = lastCodePoint(text, index);
  const after = text.codePointAt(index + 1);
  if (before === undefined || after === undefined) return false;
  const next = String.fromCodePoint(after);
  if (character === "\u200d" && joined.test(before) && joined.test(next)) return true;
  return joiningScript.test(before);
}

function lastCodePoint(text: string, end: number): string | undefined {
  if (end === 0) return undefined;
  const unit = text.charCodeAt(end - 1);
  const low = unit >= 0xdc00 && unit <= 0xdfff && end >= 2;
  return text.slice(end - (low ? 2 : 1), end);
}

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16);
}

function codePointName(character: string): string {
  return `U+${hex(character).toUpperCase().padStart(4, "0")}`;
}
