import type { TextWindow } from "@toolhaft/tasks";

/** What a reply has for text, beside its other lines: UTF-16 units and UTF-8 bytes. */
const mostUnits = 28_000;
const mostBytes = 88_000;

/** The window cut to what one reply holds, between code points; a tail keeps its end. */
export function fitWindow(window: TextWindow, tail = false): TextWindow {
  const { text, totalChars } = window;
  if (text.length <= mostUnits && text.length * 3 <= mostBytes) return window;
  const letters = [...text];
  if (tail) letters.reverse();
  let units = 0;
  let bytes = 0;
  let count = 0;
  for (const letter of letters) {
    units += letter.length;
    bytes += Buffer.byteLength(letter);
    if (units > mostUnits || bytes > mostBytes) break;
    count += 1;
  }
  if (count === letters.length) return window;
  const kept = letters.slice(0, count);
  if (tail) kept.reverse();
  const offset = tail ? window.offset + letters.length - count : window.offset;
  const end = offset + count;
  return { text: kept.join(""), offset, chars: count, totalChars, nextOffset: end < totalChars ? end : null };
}
