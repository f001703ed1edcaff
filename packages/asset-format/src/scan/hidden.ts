/** A stretch of a text that a reader does not see as what it is. */
export interface Hidden {
  start: number;
  end: number;
  message: string;
}

const zeroWidth = /[\u200b\u2060-\u2064\ufeff]/g;
const tags = /(\u{1f3f4})?([\u{e0000}-\u{e007f}]+)/gu;
const joiners = /[\u200c\u200d]/g;
const selectors = /[\ufe00-\ufe0f\u180b-\u180d\u180f\u{e0100}-\u{e01ef}]{2,}/gu;
const emojiPart = /\ufe0f|[\p{Extended_Pictographic}\p{Emoji_Modifier}\p{Regional_Indicator}\u{e007f}]/u;
/** Scripts whose letters are joined or kept apart by these characters. */
const joiningScript =
  /[\p{Script=Arabic}\p{Script=Syriac}\p{Script=Nko}\p{Script=Mongolian}\p{Script=Devanagari}\p{Script=Bengali}\p{Script=Gurmukhi}\p{Script=Gujarati}\p{Script=Oriya}\p{Script=Tamil}\p{Script=Telugu}\p{Script=Kannada}\p{Script=Malayalam}\p{Script=Sinhala}\p{Script=Khmer}\p{Script=Myanmar}\p{Script=Tibetan}]/u;

/** Characters that hide text: outside the emoji and the scripts that need them. */
export function hiddenCharacters(text: string): Hidden[] {
  const found: Hidden[] = [];
  const add = (start: number, length: number, message: string): void => {
    found.push({ start, end: start + length, message });
  };
  for (const { 0: sign, index } of text.matchAll(zeroWidth)) {
    if (!(sign === "\ufeff" && index === 0)) add(index, 1, "a character without width");
  }
  for (const match of text.matchAll(tags)) {
    const [whole, flag, run = ""] = match;
    if (flag !== undefined && /^[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}$/u.test(run)) continue;
    add(match.index + whole.length - run.length, run.length, "tag characters outside a flag");
  }
  for (const { index } of text.matchAll(joiners)) {
    if (!joins(text, index)) add(index, 1, "a joiner outside emoji and scripts that use it");
  }
  for (const { 0: run, index } of text.matchAll(selectors)) add(index, run.length, "variation selectors in a row");
  return found.sort((a, b) => a.start - b.start);
}

function joins(text: string, index: number): boolean {
  const before = lastCodePoint(text, index);
  const after = String.fromCodePoint(text.codePointAt(index + 1) ?? 0);
  if (text[index] === "\u200d" && emojiPart.test(before) && emojiPart.test(after)) return true;
  return joiningScript.test(before) || (joiningScript.test(after) && before !== "");
}

function lastCodePoint(text: string, end: number): string {
  return [...text.slice(Math.max(0, end - 2), end)].at(-1) ?? "";
}

const controls = /[\u202a-\u202e\u2066-\u2069]+/g;
const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Controls that change the order of what is read; ordinary where the line holds right-to-left letters. */
export function bidiControls(text: string): (Hidden & { ordinary: boolean })[] {
  return [...text.matchAll(controls)].map(({ 0: run, index }) => {
    const from = text.lastIndexOf("\n", index) + 1;
    const to = text.indexOf("\n", index);
    const ordinary = rightToLeft.test(text.slice(from, to < 0 ? text.length : to));
    return { start: index, end: index + run.length, message: "a control that changes the reading order", ordinary };
  });
}

const unseen = /\u034f|[\ufe00-\ufe0e]|[\u{e0100}-\u{e01ef}]|[\p{Cf}\u115f\u1160\u3164\uffa0]/gu;

/** The text with every character that cannot be seen written as `⟨U+200B⟩`; joiners that are in their place stay. */
export function showHidden(text: string): string {
  return text.replace(unseen, (sign, index: number) => {
    if ((sign === "\u200c" || sign === "\u200d") && joins(text, index)) return sign;
    if (sign === "\u00ad") return sign;
    const code = sign.codePointAt(0) ?? 0;
    if (code >= 0xe0020 && code <= 0xe007f && isFlag(text, index)) return sign;
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
  });
}

function isFlag(text: string, index: number): boolean {
  const start = text.lastIndexOf("\u{1f3f4}", index);
  if (start < 0) return false;
  const run = /^\u{1f3f4}[\u{e0030}-\u{e0039}\u{e0061}-\u{e007a}]{3,6}\u{e007f}/u.exec(text.slice(start, start + 18));
  return run !== null && start + run[0].length > index;
}
