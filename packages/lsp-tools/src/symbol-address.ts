import { nearest, ToolError } from "@toolhaft/core";
import type { Pos, Range } from "./answer.ts";
import { comparePositions, excerpt, type SourceText } from "./positions.ts";
import type { FlatSymbol } from "./symbols.ts";

/** A parsed `symbol` parameter. */
export interface SymbolAddress {
  /** As given, without a final `#n`. */
  whole: string;
  segments: string[];
  /** Starts at the top level. */
  anchored: boolean;
  /** 1-based. */
  occurrence: number | undefined;
}

/** Splits `[ "/" ] name *( sep name ) [ "#" n ]`; `/`, `.` and `::` separate, `\` takes a separator literally. */
export function parseSymbol(text: string): SymbolAddress {
  const mark = /^(.*[^\\])#([1-9]\d*)$/s.exec(text);
  const whole = mark?.[1] ?? text;
  const occurrence = mark ? Number(mark[2]) : undefined;
  const anchored = whole.length > 1 && whole.startsWith("/");
  const segments: string[] = [];
  let segment = "";
  const body = anchored ? whole.slice(1) : whole;
  for (let at = 0; at < body.length; at++) {
    const char = body.charAt(at);
    if (char === "\\" && at + 1 < body.length) segment += body.charAt(++at);
    else if (char === "/" || char === ".") {
      segments.push(segment);
      segment = "";
    } else if (char === ":" && body.charAt(at + 1) === ":") {
      segments.push(segment);
      segment = "";
      at++;
    } else segment += char;
  }
  segments.push(segment);
  const named = segments.filter((one) => one !== "");
  return { whole, segments: named.length > 0 ? named : [whole], anchored, occurrence };
}

/** A symbol's name as the segments it is addressed by: receivers become parents; parameters and generics do not count. */
export function nameSegments(name: string): string[] {
  const receiver = /^\(\s*\*?\s*([^)\s[]+)[^)]*\)\s*\.\s*(.+)$/s.exec(name);
  if (receiver) return [stripGenerics(receiver[1] ?? ""), plainName(receiver[2] ?? "")];
  return [plainName(name)];
}

/** A name without its parameter list and generics; operators keep their signs. */
function plainName(name: string): string {
  const operator = /^(operator\s*(?:\(\s*\)|\[\s*\]|[^\s\w(]+|[\w\s*&]+))/.exec(name);
  if (operator) return (operator[1] ?? name).trimEnd();
  const plain = stripGenerics(name.replace(/\s*\((?:.|\n)*\)\s*(?:const|override|final|noexcept|&|\s)*$/, ""));
  return plain === "" ? name : plain;
}

function stripGenerics(name: string): string {
  const plain = name.replace(/(?<=[\p{ID_Continue}$])\s*(?:<.*>|\[[^\]]*\])$/su, "");
  return plain === "" ? name : plain;
}

/** The symbols that an address means, in order of position. */
export function matchSymbols(symbols: readonly FlatSymbol[], address: SymbolAddress): FlatSymbol[] {
  const literal = symbols.filter((symbol) => symbol.name === address.whole);
  const hits = literal.length > 0 ? literal : symbols.filter((symbol) => fits(symbol, address));
  return [...hits].sort((a, b) => comparePositions(a.selection.start, b.selection.start));
}

function fits(symbol: FlatSymbol, address: SymbolAddress): boolean {
  const { segments, anchored } = address;
  const last = segments.at(-1) ?? "";
  const own = symbol.name === last ? [symbol.name] : nameSegments(symbol.name);
  const path = [...symbol.ancestors.flatMap(nameSegments), ...own];
  const raw = [...symbol.ancestors, symbol.name];
  return endsWith(path, segments, anchored) || endsWith(raw, segments, anchored);
}

function endsWith(path: readonly string[], segments: readonly string[], exact: boolean): boolean {
  if (exact ? path.length !== segments.length : path.length < segments.length) return false;
  const offset = path.length - segments.length;
  return segments.every((segment, index) => path[offset + index] === segment);
}

/** For each symbol the shortest of a few spellings that addresses exactly it. */
export function addressAll(symbols: readonly FlatSymbol[]): string[] {
  const index = indexByName(symbols);
  return symbols.map((symbol) => addressOf(symbol, index));
}

/** Every symbol that an address ending in some name could mean, under that name. */
function indexByName(symbols: readonly FlatSymbol[]): (address: SymbolAddress) => readonly FlatSymbol[] {
  const byName = new Map<string, Set<FlatSymbol>>();
  const put = (name: string, symbol: FlatSymbol) => {
    const set = byName.get(name);
    if (set) set.add(symbol);
    else byName.set(name, new Set([symbol]));
  };
  for (const symbol of symbols) {
    put(symbol.name, symbol);
    put(nameSegments(symbol.name).at(-1) ?? "", symbol);
  }
  return ({ whole, segments }) => [...(byName.get(whole) ?? []), ...(byName.get(segments.at(-1) ?? "") ?? [])];
}

function addressOf(symbol: FlatSymbol, candidates: (address: SymbolAddress) => readonly FlatSymbol[]): string {
  const path = [...symbol.ancestors, symbol.name].map(escapeSegment);
  const own = [...symbol.ancestors.flatMap(nameSegments), ...nameSegments(symbol.name)].map(escapeSegment);
  const spellings = [own.at(-1) ?? "", own.join("/"), `/${own.join("/")}`, `/${path.join("/")}`, `/${path.join("::")}`];
  let counted: string | undefined;
  for (const spelling of spellings) {
    const address = parseSymbol(spelling);
    const hits = matchSymbols([...new Set(candidates(address))], address);
    if (hits.length === 1 && hits[0] === symbol) return spelling;
    const at = hits.indexOf(symbol);
    if (at >= 0) counted = `${spelling}#${at + 1}`;
  }
  return counted ?? spellings.at(-1) ?? symbol.name;
}

function escapeSegment(name: string): string {
  return name.replace(/[\\/.]|::|#(?=\d+$)/g, (mark) => (mark === "::" ? "\\:\\:" : `\\${mark}`));
}

/** The occurrences of a name as a whole identifier. */
export function occurrences(text: string, name: string): number[] {
  const found: number[] = [];
  if (name === "") return found;
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (isWhole(text, at, name)) found.push(at);
  }
  return found;
}

const identifierEnd = /[\p{ID_Continue}$]$/u;
const identifierStart = /^[\p{ID_Continue}$]/u;

function isWhole(text: string, at: number, name: string): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + name.length, at + name.length + 2);
  const leftJoins = identifierStart.test(name) && identifierEnd.test(before);
  const rightJoins = identifierEnd.test(name) && identifierStart.test(after);
  return !leftJoins && !rightJoins;
}

export interface SymbolQuery {
  symbol: string;
  line?: number | undefined;
  character?: number | undefined;
  source: SourceText;
  /** Of the document, from `flattenSymbols`; read only when no line is given. */
  symbols: readonly FlatSymbol[];
  /** "src/a.ts", for messages. */
  shown: string;
  /** First number of lines and columns in messages. @default 0 */
  base?: 0 | 1;
}

export interface SymbolHit {
  position: Pos;
  /** Its name in the source. */
  selection: Range;
  /** The whole of it, when the document's symbols know it. */
  range: Range | undefined;
  kind: string | undefined;
  name: string;
}

/**
 * Finds the one place that a `symbol` parameter means.
 *
 * @throws ToolError `invalid_input` with up to 10 choices when there are several, `not_found` with near names when none
 */
export function resolveSymbol(query: SymbolQuery): SymbolHit {
  const address = parseSymbol(query.symbol);
  const hits = query.line === undefined ? inDocument(query, address) : onLine(query, address, query.line);
  if (hits.length === 0) throw noSymbol(query, address);
  const { occurrence } = address;
  if (occurrence !== undefined) {
    const hit = hits[occurrence - 1];
    if (hit) return hit;
    throw ambiguous(query, address, hits, `there is no #${occurrence}`);
  }
  const [first] = hits;
  if (first && hits.length === 1) return first;
  if (query.line !== undefined && query.character !== undefined) return nearestTo(hits, query.character);
  throw ambiguous(query, address, hits, "several places fit");
}

function inDocument(query: SymbolQuery, address: SymbolAddress): SymbolHit[] {
  const { source } = query;
  const symbols = matchSymbols(query.symbols, address);
  if (symbols.length > 0) {
    return symbols.map((symbol) => ({
      position: symbol.selection.start,
      selection: symbol.selection,
      range: symbol.range,
      kind: symbol.kind,
      name: symbol.name,
    }));
  }
  if (address.segments.length !== 1 || address.anchored) return [];
  return textHits(source, address.segments[0] ?? "", 0, source.text.length);
}

function onLine(query: SymbolQuery, address: SymbolAddress, line: number): SymbolHit[] {
  const start = query.source.offsetAt({ line, character: 0 });
  const end = start + query.source.line(line).length;
  const byName = textHits(query.source, address.segments.at(-1) ?? "", start, end);
  // "a.b" and "operator/" may also stand on the line as they were written
  return byName.length > 0 ? byName : textHits(query.source, address.whole, start, end);
}

function textHits(source: SourceText, name: string, from: number, to: number): SymbolHit[] {
  return occurrences(source.text.slice(from, to), name).map((at) => {
    const start = source.positionAt(from + at);
    const selection = { start, end: source.positionAt(from + at + name.length) };
    return { position: start, selection, range: undefined, kind: undefined, name };
  });
}

function nearestTo(hits: readonly SymbolHit[], character: number): SymbolHit {
  const distance = (hit: SymbolHit) => {
    const { start, end } = hit.selection;
    return character < start.character ? start.character - character : Math.max(0, character - end.character);
  };
  return hits.reduce((best, hit) => (distance(hit) < distance(best) ? hit : best));
}

function ambiguous(query: SymbolQuery, address: SymbolAddress, hits: readonly SymbolHit[], why: string): ToolError {
  const base = query.base ?? 0;
  const rows = hits.slice(0, 10).map((hit, index) => {
    const { line, character } = hit.position;
    const kind = hit.kind ?? "use";
    return `#${index + 1} ${kind} ${line + base}:${character + base} | ${excerpt(query.source.line(line), character)}`;
  });
  const more = hits.length > 10 ? `\n… ${hits.length - 10} more` : "";
  return new ToolError(
    "invalid_input",
    `symbol "${query.symbol}" in ${query.shown}: ${why}\n${rows.join("\n")}${more}`,
    {
      hint: `add #n ("${address.whole}#1"), a line, or a longer path`,
      details: { matches: hits.length },
    },
  );
}

function noSymbol(query: SymbolQuery, address: SymbolAddress): ToolError {
  const where = query.line === undefined ? query.shown : `line ${query.line + (query.base ?? 0)} of ${query.shown}`;
  const known = new Set(query.symbols.flatMap((symbol) => [symbol.name, ...nameSegments(symbol.name)]));
  const text = query.line === undefined ? query.source.text : query.source.line(query.line);
  for (const match of text.matchAll(/[\p{ID_Continue}$]+/gu)) if (known.size < 5_000) known.add(match[0]);
  const names = nearest(address.segments.at(-1) ?? query.symbol, [...known], 10);
  return new ToolError("not_found", `there is no symbol "${query.symbol}" in ${where}`, {
    hint: names.length > 0 ? `near names: ${names.join(", ")}` : "lsp_document_symbols lists what is there",
  });
}
