import { hash } from "node:crypto";
import type { Database } from "@toolhaft/sqlite";
import type { NewResult } from "../../edges.ts";
import type { TextWindow } from "../../store.ts";
import { headOf, keepable, lengthOf, offsetOf, tailOf, windowAt, windowOf } from "../../text-window.ts";
import { headChars, parsed, placeOf, type ResultNote } from "./rows.ts";

/** UTF-8 bytes up to which a result stands in one row. */
const inlineBytes = 64 * 1024;
/** UTF-8 bytes of the largest result; of a longer one the end is kept. */
const mostBytes = 16 * 1024 * 1024;
/** Code points of a chunk. */
const chunkChars = 16_384;

/** Stores a result for an attempt; gives what its row holds. */
export function storeResult(
  db: Database,
  task: number,
  attempt: number,
  result: NewResult,
  partial: boolean,
): { note: string; text: string } {
  const whole = keepable(result.text);
  const text = lastBytes(whole, mostBytes);
  const chars = lengthOf(text);
  const dropped = (result.droppedChars ?? 0) + (text.length === whole.length ? 0 : lengthOf(whole) - chars);
  const note: ResultNote = {
    chars,
    sha256: hash("sha256", text),
    partial,
    droppedChars: dropped,
  };
  if (text.length * 3 <= inlineBytes || Buffer.byteLength(text) <= inlineBytes) {
    return { note: JSON.stringify(note), text };
  }
  let start = 0;
  for (let at = 0; at < text.length; start += chunkChars) {
    const end = offsetOf(text, chunkChars, at);
    db.run("INSERT INTO chunk(task, attempt, start_char, text) VALUES(?, ?, ?, ?)", [
      task,
      attempt,
      start,
      text.slice(at, end),
    ]);
    at = end;
  }
  return { note: JSON.stringify({ ...note, chunked: true }), text: headOf(text, headChars) };
}

/** The end of a text that is at most so many bytes long, cut between code points. */
function lastBytes(text: string, most: number): string {
  if (text.length * 3 <= most) return text;
  const bytes = Buffer.from(text);
  if (bytes.length <= most) return text;
  let start = bytes.length - most;
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
  return bytes.toString("utf8", start);
}

export function readWindow(
  db: Database,
  task: number,
  attempt: number,
  window: { offset: number; limit: number } | { tail: number },
): TextWindow {
  const row = db.get<{ result_json: string | null; text: string | null }>(
    "SELECT result_json, text FROM tried WHERE task = ? AND place = ?",
    [task, placeOf(task, attempt)],
  );
  if (row?.result_json == null) return windowAt("", "offset" in window ? window.offset : 0, 0);
  const { chars, chunked } = parsed<ResultNote>(row.result_json);
  const offset = "offset" in window ? window.offset : Math.max(0, chars - window.tail);
  const limit = "offset" in window ? window.limit : window.tail;
  if (chunked !== true) {
    const text = row.text ?? "";
    return "offset" in window ? windowOf(text, offset, limit, chars) : windowAt(tailOf(text, limit), offset, chars);
  }
  const first = Math.floor(offset / chunkChars) * chunkChars;
  const parts = db.all<{ text: string }>(
    "SELECT text FROM chunk WHERE task = ? AND attempt = ? AND start_char >= ? AND start_char < ? ORDER BY start_char",
    [task, attempt, first, Math.min(offset + limit, chars)],
  );
  const part = windowOf(parts.map(({ text }) => text).join(""), offset - first, limit);
  return windowAt(part.text, offset, chars);
}
