import { ToolError } from "@toolhaft/core";

/** A line of a hunk: kept, removed or added. */
export interface HunkLine {
  readonly sign: " " | "-" | "+";
  readonly text: string;
}

export interface Hunk {
  /** Texts of its `@@` lines: enclosing lines, each sought after the last. */
  readonly headers: readonly string[];
  /** Old line number of a `@@ -10,3 +10,4 @@`; it may settle a tie. */
  readonly lineHint?: number;
  readonly lines: readonly HunkLine[];
  /** How many empty lines end the hunk that may only stand between it and the next hunk or section. */
  readonly blankTail: number;
  /** The old block must end at the last line of the file. */
  readonly endOfFile: boolean;
  /** Line of the patch where it starts. */
  readonly patchLine: number;
}

export type PatchSection =
  | { readonly kind: "add"; readonly path: string; readonly lines: readonly string[]; readonly patchLine: number }
  | { readonly kind: "delete"; readonly path: string; readonly patchLine: number }
  | {
      readonly kind: "update";
      readonly path: string;
      readonly moveTo?: string;
      readonly hunks: readonly Hunk[];
      readonly patchLine: number;
    };

/** A patch that has been read; nothing of it is checked against files. */
export interface Patch {
  readonly sections: readonly PatchSection[];
}

const GRAMMAR = {
  envelope: 'a patch is "*** Begin Patch", its sections, "*** End Patch"',
  section: 'a section begins with "*** Add File: path", "*** Delete File: path" or "*** Update File: path"',
  add: 'every line of an added file begins with "+"',
  hunk: 'a line of a hunk begins with " ", "-" or "+"; a hunk may begin with "@@ enclosing line"',
  update: 'an update has hunks, "*** Move to: path", or both',
  path: "name a path after the colon",
} as const;

/**
 * Reads the V4A patch format. A code fence or here-document around the envelope, CRLF and `\ No newline at end of file`
 * are ignored.
 *
 * @throws ToolError `invalid_input` with the line number, the line and the grammar that applies
 */
export function parsePatch(text: string): Patch {
  const lines = dedented(text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line)));
  const { begin, end } = envelope(lines);
  const reader = new PatchReader(lines, begin + 1, end);
  const sections: PatchSection[] = [];
  for (;;) {
    reader.skipBlank();
    if (reader.done) break;
    sections.push(readSection(reader));
  }
  if (sections.length === 0) throw wrong(lines, begin, "the patch has no sections", GRAMMAR.section);
  return { sections };
}

/** A patch that is indented as a whole, as in a list, without that indent. */
function dedented(lines: readonly string[]): readonly string[] {
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  const indent = /^[ \t]*/.exec(lines[begin] ?? "")?.[0] ?? "";
  if (indent === "") return lines;
  const end = lines.findIndex((line, at) => at > begin && line.trimEnd() === indent + END);
  const inside = lines.slice(begin, end + 1);
  if (end < 0 || inside.some((line) => line !== "" && !line.startsWith(indent))) return lines;
  return [...lines.slice(0, begin), ...inside.map((line) => line.slice(indent.length)), ...lines.slice(end + 1)];
}

function wrong(lines: readonly string[], at: number, what: string, grammar: string): ToolError {
  const line = lines[at] ?? "";
  const shown = line.length > 100 ? `${[...line].slice(0, 100).join("")}…` : line;
  return new ToolError("invalid_input", `patch line ${at + 1}: ${what}: ${JSON.stringify(shown)}`, {
    hint: grammar,
    details: { patchLine: at + 1 },
  });
}

const BEGIN = "*** Begin Patch";
const END = "*** End Patch";

function envelope(lines: readonly string[]): { begin: number; end: number } {
  const begin = lines.findIndex((line) => line.trim() === BEGIN);
  if (begin < 0) throw wrong(lines, 0, `no "${BEGIN}"`, GRAMMAR.envelope);
  const opened = lines.slice(0, begin).findIndex((line) => !isWrapper(line));
  if (opened >= 0) throw wrong(lines, opened, `text before "${BEGIN}"`, GRAMMAR.envelope);
  let end = -1;
  for (let at = begin + 1; at < lines.length && end < 0; at++) if (lines[at]?.trimEnd() === END) end = at;
  if (end < 0) throw wrong(lines, lines.length - 1, `no "${END}"`, GRAMMAR.envelope);
  const words = lines.slice(0, begin).flatMap((line) => /<<-?\s*['"]?(\w+)/.exec(line)?.[1] ?? []);
  for (let at = end + 1; at < lines.length; at++) {
    const line = (lines[at] ?? "").trim();
    const closes = line === "" || /^```$|^~~~$/.test(line) || words.includes(line) || /^EOF$|^PATCH$/.test(line);
    if (!closes) throw wrong(lines, at, `text after "${END}"`, GRAMMAR.envelope);
  }
  return { begin, end };
}

/** An opening code fence, or a shell line that opens a here-document. */
function isWrapper(line: string): boolean {
  return line.trim() === "" || /^\s*(```|~~~)\S*\s*$/.test(line) || /<<-?\s*['"]?\w+['"]?\s*$/.test(line);
}

class PatchReader {
  readonly lines: readonly string[];
  readonly #end: number;
  at: number;

  constructor(lines: readonly string[], start: number, end: number) {
    this.lines = lines;
    this.at = start;
    this.#end = end;
  }

  get done(): boolean {
    return this.at >= this.#end;
  }

  get line(): string {
    return this.done ? END : (this.lines[this.at] ?? "");
  }

  get startsSection(): boolean {
    return this.done || /^\*\*\* (Add File|Delete File|Update File):/.test(this.line);
  }

  skipBlank(): void {
    while (!this.done && this.line.trim() === "") this.at++;
  }

  /** Whether only blank lines stand before the next section. */
  get blankToSection(): boolean {
    let at = this.at;
    while (at < this.#end && (this.lines[at] ?? "").trim() === "") at++;
    return at >= this.#end || (this.lines[at] ?? "").startsWith("*** ");
  }

  /** Whether only blank lines stand before the next `@@`: they part two hunks, and are no hunk. */
  get blankToHeader(): boolean {
    let at = this.at;
    while (at < this.#end && this.lines[at] === "") at++;
    return at > this.at && at < this.#end && isHeader(this.lines[at] ?? "");
  }

  fail(what: string, grammar: string): ToolError {
    return wrong(this.lines, this.at, what, grammar);
  }
}

function readSection(reader: PatchReader): PatchSection {
  const patchLine = reader.at + 1;
  const match = /^\*\*\* (Add|Delete|Update) File:\s*(.*?)\s*$/.exec(reader.line);
  if (!match) throw reader.fail("not the start of a section", GRAMMAR.section);
  const [, kind, path = ""] = match;
  if (path === "") throw reader.fail("no path", GRAMMAR.path);
  reader.at++;
  if (kind === "Add") return { kind: "add", path, lines: readAdded(reader), patchLine };
  if (kind === "Delete") return { kind: "delete", path, patchLine };
  return readUpdate(reader, path, patchLine);
}

function readAdded(reader: PatchReader): readonly string[] {
  const lines: string[] = [];
  for (; !reader.startsSection; reader.at++) {
    if (reader.line.startsWith("+")) lines.push(reader.line.slice(1));
    else if (isNoNewline(reader.line)) continue;
    else if (reader.line === "" && reader.blankToSection) break;
    else throw reader.fail("not a line of an added file", GRAMMAR.add);
  }
  return lines;
}

function isNoNewline(line: string): boolean {
  return line === "\\ No newline at end of file";
}

function readUpdate(reader: PatchReader, named: string, patchLine: number): PatchSection {
  const arrow = /^(.*?) -> (.*)$/.exec(named);
  const path = arrow?.[1] ?? named;
  let moveTo = arrow?.[2];
  const move = /^\*\*\* Move to:\s*(.*?)\s*$/.exec(reader.line);
  if (move) {
    if (moveTo !== undefined) throw reader.fail("a second new path", GRAMMAR.update);
    moveTo = move[1] ?? "";
    if (moveTo === "") throw reader.fail("no path", GRAMMAR.path);
    reader.at++;
  }
  const hunks: Hunk[] = [];
  while (!reader.startsSection) {
    if (hunks.length === 0 && reader.line === "" && reader.blankToSection) break;
    if (reader.blankToHeader) reader.skipBlank();
    hunks.push(readHunk(reader));
  }
  if (hunks.length === 0 && moveTo === undefined) {
    throw wrong(reader.lines, patchLine - 1, "an update without hunks", GRAMMAR.update);
  }
  return { kind: "update", path, hunks, patchLine, ...(moveTo === undefined ? {} : { moveTo }) };
}

function readHunk(reader: PatchReader): Hunk {
  const patchLine = reader.at + 1;
  const headers: string[] = [];
  let lineHint: number | undefined;
  for (; isHeader(reader.line); reader.at++) {
    const range = /^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@/.exec(reader.line);
    const text = reader.line.slice(2).trim();
    if (range) lineHint = Number(range[1]);
    else if (text !== "") headers.push(text);
  }
  const lines: HunkLine[] = [];
  let endOfFile = false;
  let blankTail = 0;
  for (; !reader.startsSection && !isHeader(reader.line) && !endOfFile; reader.at++) {
    const { line } = reader;
    const sign = line[0];
    blankTail = line === "" ? blankTail + 1 : 0;
    if (line.trimEnd() === "*** End of File") endOfFile = true;
    else if (sign === " " || sign === "-" || sign === "+") lines.push({ sign, text: line.slice(1) });
    else if (line === "") lines.push({ sign: " ", text: "" });
    else if (!isNoNewline(line)) throw reader.fail("not a line of a hunk", GRAMMAR.hunk);
  }
  if (lines.length === 0) throw wrong(reader.lines, patchLine - 1, "a hunk without lines", GRAMMAR.hunk);
  if (!reader.startsSection && !isHeader(reader.line)) blankTail = 0;
  return { headers, lines, endOfFile, blankTail, patchLine, ...(lineHint === undefined ? {} : { lineHint }) };
}

function isHeader(line: string): boolean {
  return line === "@@" || line.startsWith("@@ ");
}
