import { ToolError } from "@toolhaft/core";

export interface Piece {
  /** One JSON object. */
  text: string;
  /** Line of its first character, from 1. */
  line: number;
  problem?: string;
}

/** Longest object that is read, in UTF-16 units. */
const longest = 4 * 1024 * 1024;

/**
 * Objects of a stream of JSON Lines, as damaged as such files are: CRLF, a BOM, blank lines, no last newline, several
 * objects on one line. What is no object is given with its problem, and reading goes on at the next line.
 *
 * @throws ToolError `invalid_input` for a JSON array
 */
export async function* splitObjects(source: AsyncIterable<string | Uint8Array>): AsyncIterable<Piece> {
  let number = 0;
  for await (const line of lines(source)) {
    number++;
    const text = line.replace(/^\ufeff/, "").trim();
    if (text === "") continue;
    if (number === 1 || text.startsWith("[")) refuseArray(text);
    yield* objectsOf(text, number);
  }
}

function refuseArray(text: string): void {
  if (!text.startsWith("[")) return;
  throw new ToolError("invalid_input", "this is a JSON array; an import is JSON Lines, one object on each line", {
    hint: "write each element of the array on a line of its own, without the brackets and commas",
  });
}

async function* lines(source: AsyncIterable<string | Uint8Array>): AsyncIterable<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of source) {
    rest += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
    const parts = rest.split("\n");
    rest = parts.pop() ?? "";
    yield* parts;
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}

function* objectsOf(text: string, line: number): Iterable<Piece> {
  let from = 0;
  while (from < text.length) {
    const end = text[from] === "{" ? objectEnd(text, from) : -1;
    if (end < 0) {
      yield { text: "", line, problem: problemOf(text.slice(from)) };
      return;
    }
    yield end - from > longest
      ? { text: "", line, problem: "the object is over 4 MiB" }
      : { text: text.slice(from, end), line };
    from = end;
    while (/[\s,]/.test(text[from] ?? "")) from++;
  }
}

function problemOf(text: string): string {
  return text.startsWith("{") ? "the object does not end on its line" : "no JSON object";
}

/** Offset behind the object that begins at `from`, or −1 when it does not end. */
function objectEnd(text: string, from: number): number {
  let depth = 0;
  let inString = false;
  for (let at = from; at < text.length; at++) {
    const sign = text[at];
    if (inString) {
      if (sign === "\\") at++;
      else if (sign === '"') inString = false;
    } else if (sign === '"') inString = true;
    else if (sign === "{") depth++;
    else if (sign === "}" && --depth === 0) return at + 1;
  }
  return -1;
}
