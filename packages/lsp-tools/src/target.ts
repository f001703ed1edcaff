import { ToolError } from "@toolhaft/core";
import type { DocumentSymbol, SymbolInformation } from "vscode-languageserver-protocol";
import type { Pos, Range, Target } from "./answer.ts";
import { askFirst, type Call } from "./ask.ts";
import { features } from "./features.ts";
import type { OpenFile } from "./open-file.ts";
import { excerpt, identifiers, nearestIdentifier, wholeCharacter } from "./positions.ts";
import { resolveSymbol, type SymbolHit } from "./symbol-address.ts";
import { type FlatSymbol, flattenSymbols } from "./symbols.ts";

/** Where a call points, as given; numbers are 0-based by now. */
export interface Where {
  line?: number | undefined;
  character?: number | undefined;
  symbol?: string | undefined;
}

/** What to do with a position that touches no identifier. */
export type Snap = "nearest" | "refuse" | "keep";

/** Where inside a symbol the question is asked: at its start, its end, or after the `(` that follows. */
export type SymbolSpot = "start" | "end" | "arguments";

export interface LocateOptions {
  snap: Snap;
  spot?: SymbolSpot;
  base: 0 | 1;
}

/** Turns `line`, `character`, `symbol` into one position. @throws ToolError `invalid_input`, `not_found` */
export async function locate(call: Call, file: OpenFile, where: Where, options: LocateOptions): Promise<Target> {
  const { line, character, symbol } = where;
  const { source } = file.text;
  if (symbol !== undefined) {
    if (line !== undefined) checkLine(file, line, options.base);
    const hit = await findSymbol(call, file, where, options.base);
    const position = spotOf(file, hit, options.spot ?? "start");
    return targetAt(file, position, { name: hit.name, kind: hit.kind, snapped: false });
  }
  if (line === undefined || character === undefined) throw mixedUp(options.base);
  checkLine(file, line, options.base);
  const text = source.line(line);
  const column = wholeCharacter(text, Math.min(character, text.length));
  const near = nearestIdentifier(text, column);
  if (options.snap === "keep" || near?.touches || near === undefined) {
    if (options.snap === "refuse" && near === undefined) throw notOnName(file, line, options.base);
    return targetAt(
      file,
      { line, character: column },
      { name: near?.touches ? near.word.text : undefined, snapped: false },
    );
  }
  if (options.snap === "refuse") throw notOnName(file, line, options.base);
  return targetAt(file, { line, character: near.word.start }, { name: near.word.text, snapped: true });
}

function notOnName(file: OpenFile, line: number, base: number): ToolError {
  const names = identifiers(file.text.source.line(line)).slice(0, 10);
  return new ToolError("invalid_input", `that position of ${file.shown} touches no name`, {
    hint: `names on line ${line + base}: ${names.map((word) => `${word.text} ${line + base}:${word.start + base}`).join(", ") || "none"}`,
  });
}

function mixedUp(base: number): ToolError {
  return new ToolError("invalid_input", "line, character: give line and character, or symbol", {
    hint: `ways: {"line":${4 + base},"character":${7 + base}} · {"symbol":"area"} · {"line":${4 + base},"symbol":"area"} · all three (the occurrence nearest to character)`,
  });
}

export function checkLine(file: OpenFile, line: number, base: number): void {
  const { lineCount } = file.text.source;
  if (line < lineCount) return;
  throw new ToolError(
    "invalid_input",
    `line: ${file.shown} has ${lineCount} lines (${base} to ${lineCount - 1 + base})`,
    {
      hint: "give a line of the file, or a symbol",
    },
  );
}

export function findSymbol(call: Call, file: OpenFile, where: Where, base: 0 | 1): Promise<SymbolHit> {
  return (async () => {
    const { symbol = "", line, character } = where;
    const symbols = line === undefined ? await documentSymbols(call, file) : [];
    return resolveSymbol({ symbol, line, character, source: file.text.source, symbols, shown: file.shown, base });
  })();
}

/** The symbols of the document by the first server that has any; none when no server can tell. */
export async function documentSymbols(call: Call, file: OpenFile): Promise<FlatSymbol[]> {
  const asked = await askFirst<(DocumentSymbol | SymbolInformation)[] | null>(call, file.served.serving, {
    feature: features.documentSymbols,
    file,
    quiet: true,
    isEmpty: (result) => (result?.length ?? 0) === 0,
    ask: (session) => session.request("textDocument/documentSymbol", { textDocument: { uri: session.uri } }),
  });
  const answer = asked.find((one) => one.report.outcome === "answered");
  return flattenSymbols(answer?.result, file.text.source);
}

function spotOf(file: OpenFile, hit: SymbolHit, spot: SymbolSpot): Pos {
  if (spot === "start") return hit.position;
  if (spot === "end") return hit.selection.end;
  const { source } = file.text;
  const end = source.offsetAt(hit.selection.end);
  const open = /^\s*(?:<[^()]*>\s*)?\(/.exec(source.text.slice(end, end + 500));
  return open ? source.positionAt(end + open[0].length) : hit.selection.end;
}

function targetAt(
  file: OpenFile,
  position: Pos,
  more: { name?: string | undefined; kind?: string | undefined; snapped: boolean },
): Target {
  return {
    path: file.shown,
    position,
    ...(more.name !== undefined && { name: more.name }),
    ...(more.kind !== undefined && { kind: more.kind }),
    text: excerpt(file.text.source.line(position.line), position.character),
    snapped: more.snapped,
  };
}

/** A range as given; numbers are 0-based by now. */
export interface WhereRange {
  startLine?: number | undefined;
  startChar?: number | undefined;
  endLine?: number | undefined;
  endChar?: number | undefined;
  symbol?: string | undefined;
}

/** Turns the range parameters into one range: numbers, a whole line, or a symbol's whole range. @throws ToolError */
export async function locateRange(call: Call, file: OpenFile, where: WhereRange, base: 0 | 1): Promise<Range> {
  const { startLine, startChar, endLine, endChar, symbol } = where;
  if (symbol !== undefined) {
    if (startLine !== undefined) checkLine(file, startLine, base);
    const hit = await findSymbol(call, file, { symbol, line: startLine, character: startChar }, base);
    return hit.range ?? hit.selection;
  }
  if (startLine === undefined) {
    throw new ToolError("invalid_input", "startLine: give a range, or symbol", {
      hint: `ways: {"startLine":${4 + base}} (the whole line) · startLine, startChar, endLine, endChar · {"symbol":"area"}`,
    });
  }
  checkLine(file, startLine, base);
  const { source } = file.text;
  if (endLine === undefined && startChar === undefined && endChar === undefined) {
    return {
      start: { line: startLine, character: 0 },
      end: { line: startLine, character: source.line(startLine).length },
    };
  }
  const lastLine = Math.min(endLine ?? startLine, source.lineCount - 1);
  if (endLine !== undefined) checkLine(file, endLine, base);
  const clamp = (line: number, character: number) =>
    wholeCharacter(source.line(line), Math.min(character, source.line(line).length));
  const start = { line: startLine, character: clamp(startLine, startChar ?? 0) };
  const end = { line: lastLine, character: clamp(lastLine, endChar ?? source.line(lastLine).length) };
  if (end.line < start.line || (end.line === start.line && end.character < start.character)) {
    throw new ToolError("invalid_input", "endLine, endChar: the range ends before it starts", {
      hint: "swap start and end",
    });
  }
  return { start, end };
}
