import type { TextWindow } from "./store.ts";

/** Code points. */
export function lengthOf(text: string): number {
  let points = 0;
  for (let at = 0; at < text.length; points += 1) at = after(text, at);
  return points;
}

/** UTF-16 offset of a code point; the length of the text when there are fewer. */
export function offsetOf(text: string, points: number, from = 0): number {
  let at = from;
  for (let taken = 0; taken < points && at < text.length; taken += 1) at = after(text, at);
  return at;
}

/** The first code points. */
export function headOf(text: string, points: number): string {
  return text.length <= points ? text : text.slice(0, offsetOf(text, points));
}

/** The last code points. */
export function tailOf(text: string, points: number): string {
  let at = text.length;
  for (let taken = 0; taken < points && at > 0; taken += 1) at -= at > 1 && isPair(text, at - 2) ? 2 : 1;
  return text.slice(at);
}

/** A part of a text with the true total; past the end it is empty. */
export function windowOf(text: string, offset: number, limit: number, totalChars = lengthOf(text)): TextWindow {
  const start = offsetOf(text, offset);
  const part = text.slice(start, offsetOf(text, limit, start));
  return windowAt(part, offset, totalChars);
}

/** The window of a part that was cut already. */
export function windowAt(part: string, offset: number, totalChars: number): TextWindow {
  const chars = lengthOf(part);
  const end = offset + chars;
  return { text: part, offset, chars, totalChars, nextOffset: chars > 0 && end < totalChars ? end : null };
}

/** What SQLite and JSON keep as it is: half surrogates and NUL become U+FFFD. */
export function keepable(text: string): string {
  return /[\0\ud800-\udfff]/.test(text) ? text.replace(/\0|\p{Surrogate}/gu, "\ufffd") : text;
}

function after(text: string, at: number): number {
  return at + (isPair(text, at) ? 2 : 1);
}

function isPair(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(at + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}
