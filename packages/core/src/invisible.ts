/**
 * The one list of characters that a reader cannot see or that change the order of what is read: C0 and C1 controls
 * except newline and tab, bidi controls, zero-width and filler characters, tags, and variation selectors of the
 * supplementary plane.
 *
 * @see https://www.unicode.org/reports/tr36/ and https://www.unicode.org/reports/tr9/
 */
const invisible =
  /\u034f|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}\u{e0100}-\u{e01ef}]/gu;

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
