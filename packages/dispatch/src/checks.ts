import { ToolError } from "@toolhaft/core";

/** @throws ToolError `invalid_input` for what is blank or cannot be stored, `too_large` beyond the limit */
export function checkText(field: string, text: string, most: number, over: "too_large" | "invalid_input"): void {
  if (text.trim() === "") throw new ToolError("invalid_input", `${field} is blank`, { hint: `write what ${field} is` });
  checkCharacters(field, text);
  const length = lengthOf(text);
  if (length > most)
    throw new ToolError(over, `${field} has ${length} characters; at most ${most} are taken`, {
      hint: "shorten it, or put the rest into a file and name that",
      details: { field, chars: length, limit: most },
    });
}

/** @throws ToolError `invalid_input` for NUL and halves of surrogate pairs */
export function checkCharacters(field: string, text: string): void {
  if (text.includes("\0"))
    throw new ToolError("invalid_input", `${field} holds a NUL character`, { hint: "leave it out" });
  if (/\p{Surrogate}/u.test(text))
    throw new ToolError("invalid_input", `${field} holds half of a surrogate pair`, {
      hint: "send well-formed Unicode",
    });
}

/** Code points. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length += 1;
  return length;
}

/** @throws ToolError `too_large` when the JSON of a value has more bytes */
export function checkJsonSize(field: string, value: unknown, most: number): void {
  const bytes = Buffer.byteLength(JSON.stringify(value) ?? "");
  if (bytes > most)
    throw new ToolError("too_large", `${field} has ${bytes} bytes as JSON; at most ${most} are taken`, {
      hint: "keep what the next attempt needs, and put the rest into a file",
      details: { field, bytes, limit: most },
    });
}
