import { ToolError } from "@toolhaft/core";
import type { TextMatch, TextPlace } from "./find-text.ts";
import { indentCarrier, indentOf, indentPairs } from "./indent.ts";
import { splitPayload } from "./payload.ts";
import { majorityTerminator, type Spliced, spliceBytes, spliceLines } from "./splice.ts";
import { asBuffer, type TextModel } from "./text-model.ts";

/**
 * Puts `replacement` at every place where `needle` was found. Line terminators and the final newline stay those of the
 * file; a match by whole lines carries the file's indent over to the new lines.
 *
 * @throws ToolError `conflict` when the indent of a new line cannot be carried over
 */
export function replaceText(
  file: TextModel,
  match: Extract<TextMatch, { kind: "found" }>,
  needle: string,
  replacement: string,
): Spliced {
  if (match.strategy === "exact") {
    const edits = match.places.map((place) => ({
      start: place.start,
      end: place.end,
      insert: file.encode(withTerminators(file, place, replacement)),
    }));
    return spliceBytes(file, edits);
  }
  const wanted = splitPayload(needle);
  const lines = splitPayload(replacement);
  const splices = match.places.map(({ startLine, endLine }) => {
    const found = Array.from({ length: endLine - startLine + 1 }, (_, index) => file.text(startLine + index));
    return { at: startLine, remove: found.length, insert: carryIndent(wanted, found, lines, startLine) };
  });
  return spliceLines(file, splices);
}

/**
 * New lines, written in the indents of `wanted`, in those of the `found` lines that start at `line`.
 *
 * @throws ToolError `conflict` naming both indents when no rule fits
 */
export function carryIndent(
  wanted: readonly string[],
  found: readonly string[],
  lines: readonly string[],
  line: number,
): readonly string[] {
  const pairs = indentPairs(wanted, found);
  const carry = indentCarrier(pairs);
  return lines.map((text) => {
    if (text.trim() === "") return text;
    const indent = indentOf(text);
    const carried = carry(indent);
    if (carried === undefined) {
      const seen = pairs.map((pair) => `${shown(pair.wanted)} for ${shown(pair.found)}`);
      throw new ToolError(
        "conflict",
        `the indent of a new line (${shown(indent)}) cannot be carried over to line ${line}: the text sent has ${[...new Set(seen)].slice(0, 5).join(", ")} in the file`,
        { hint: "read the file again and send the text with the file's own indents" },
      );
    }
    return carried + text.slice(indent.length);
  });
}

function shown(indent: string): string {
  if (indent === "") return "no indent";
  const runs = indent.match(/ +|\t+/g) ?? [];
  return runs.map((run) => `${run.length} ${run[0] === " " ? "space" : "tab"}${run.length > 1 ? "s" : ""}`).join(" + ");
}

/** The replacement with the terminators of the replaced lines, further ones with the last of them. */
function withTerminators(file: TextModel, place: TextPlace, replacement: string): string {
  const segments = replacement.split(/\r?\n/);
  const ends: string[] = [];
  for (let n = place.startLine; n <= place.endLine; n++) {
    const { end, next } = file.line(n);
    if (next > end && end >= place.start && next <= place.end) ends.push(next - end === 2 ? "\r\n" : "\n");
  }
  const last = ends.at(-1) ?? terminatorAt(file, place.endLine);
  const atEnd = place.end === file.bytes.length;
  if (atEnd && !file.finalNewline && segments.length > 1 && segments.at(-1) === "") segments.pop();
  const text = segments.map((segment, index) => (index === 0 ? segment : (ends[index - 1] ?? last) + segment)).join("");
  const gluesEnd = atEnd && file.finalNewline && !text.endsWith("\n") && !endsLine(file, place.start, text);
  return gluesEnd ? text + last : text;
}

/** Whether the file would end with a whole line, or be empty, without anything added. */
function endsLine(file: TextModel, start: number, text: string): boolean {
  if (text !== "") return false;
  return start === (file.bom ? 3 : 0) || file.bytes[start - 1] === 10;
}

function terminatorAt(file: TextModel, line: number): string {
  const { end, next } = file.line(line);
  const bytes = next > end ? asBuffer(file.bytes).subarray(end, next) : majorityTerminator(file);
  return bytes.toString("latin1");
}
