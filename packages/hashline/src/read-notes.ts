import type { TextModel } from "@toolhaft/workspace";
import { type Ranges, showRanges } from "./ranges.ts";

/** What is unusual about a file, so that an edit or a diff would surprise. */
export function readNotes(file: TextModel): readonly string[] {
  const { lf, crlf, loneCr } = file.lineEnds;
  const notes: string[] = [];
  if (lf > 0 && crlf > 0) notes.push(`mixed line ends: ${lf} LF, ${crlf} CRLF`);
  if (loneCr > 0 && lf + crlf === 0) {
    notes.push("the file has CR-only line ends, so it is one line here and cannot be edited");
  } else if (loneCr > 0) {
    notes.push(`a CR inside line ${showRanges(linesWith(file, "\r"))}; it separates no lines`);
  }
  const separators = linesWith(file, "\u2028");
  if (separators.length > 0) notes.push(`U+2028 inside line ${showRanges(separators)}; it separates no lines`);
  if (file.encoding === "unknown-8bit") {
    const bad = linesWithBadBytes(file);
    notes.push(`not UTF-8: bytes shown as U+FFFD in line ${showRanges(bad)}; only ASCII can be written`);
  } else if (file.encoding !== "utf-8") {
    notes.push(`encoding ${file.encoding}`);
  }
  if (file.lineCount > 0 && !file.finalNewline) notes.push("no newline at the end of the file");
  return notes;
}

/** Lines whose content holds a character, found by its bytes. */
function linesWith(file: TextModel, character: string): Ranges {
  const bytes = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength);
  if (!bytes.includes(character)) return [];
  return linesWhere(file, (line) => {
    const { start, end } = file.line(line);
    return bytes.subarray(start, end).includes(character);
  });
}

function linesWithBadBytes(file: TextModel): Ranges {
  return linesWhere(file, (line) => {
    const { start, end } = file.line(line);
    const text = file.text(line);
    return text.includes("\ufffd") && !Buffer.from(text).equals(file.bytes.subarray(start, end));
  });
}

function linesWhere(file: TextModel, holds: (line: number) => boolean): Ranges {
  const ranges: [number, number][] = [];
  for (let line = 1; line <= file.lineCount; line++) {
    if (!holds(line)) continue;
    const open = ranges.at(-1);
    if (open?.[1] === line - 1) open[1] = line;
    else ranges.push([line, line]);
  }
  return ranges;
}
