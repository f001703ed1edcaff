import type { DocumentSymbol, SymbolInformation } from "vscode-languageserver-protocol";
import type { Range } from "./answer.ts";
import { comparePositions, contains, type SourceText } from "./positions.ts";

/** A symbol of a document with its place in the tree. */
export interface FlatSymbol {
  name: string;
  kind: string;
  detail?: string | undefined;
  range: Range;
  selection: Range;
  /** Names from the top level down, without its own. */
  ancestors: string[];
  depth: number;
  deprecated?: true | undefined;
}

const symbolKinds = [
  "file",
  "module",
  "namespace",
  "package",
  "class",
  "method",
  "property",
  "field",
  "constructor",
  "enum",
  "interface",
  "function",
  "variable",
  "constant",
  "string",
  "number",
  "boolean",
  "array",
  "object",
  "key",
  "null",
  "enum member",
  "struct",
  "event",
  "operator",
  "type parameter",
];

export function symbolKind(kind: number | undefined): string {
  return symbolKinds[(kind ?? 0) - 1] ?? "symbol";
}

const isDeprecated = (symbol: { tags?: readonly number[]; deprecated?: boolean }) =>
  symbol.deprecated === true || (symbol.tags?.includes(1) ?? false);

/** Both result forms of `textDocument/documentSymbol` as one list, parents before children, in order of position. */
export function flattenSymbols(
  result: readonly (DocumentSymbol | SymbolInformation)[] | null | undefined,
  source: SourceText,
): FlatSymbol[] {
  const list = result ?? [];
  const flat = list.some((symbol) => "location" in symbol) ? nest(list, source) : tree(list as DocumentSymbol[], []);
  return flat;
}

function tree(symbols: readonly DocumentSymbol[], ancestors: string[]): FlatSymbol[] {
  return [...symbols]
    .sort((a, b) => comparePositions(a.selectionRange.start, b.selectionRange.start))
    .flatMap((symbol) => [
      {
        name: symbol.name,
        kind: symbolKind(symbol.kind),
        ...(symbol.detail && { detail: symbol.detail }),
        range: symbol.range,
        selection: symbol.selectionRange,
        ancestors,
        depth: ancestors.length,
        ...(isDeprecated(symbol) && { deprecated: true as const }),
      },
      ...tree(symbol.children ?? [], [...ancestors, symbol.name]),
    ]);
}

/** The flat form has no tree: ranges that hold each other make one. */
function nest(symbols: readonly (DocumentSymbol | SymbolInformation)[], source: SourceText): FlatSymbol[] {
  const infos = symbols.filter((symbol): symbol is SymbolInformation => "location" in symbol);
  const sorted = infos
    .map((symbol) => ({ symbol, range: symbol.location.range }))
    .sort((a, b) => comparePositions(a.range.start, b.range.start) || comparePositions(b.range.end, a.range.end));
  const open: { name: string; range: Range }[] = [];
  return sorted.map(({ symbol, range }) => {
    const holds = (outer: Range) =>
      contains(outer, range.start) && contains(outer, range.end) && comparePositions(outer.end, range.start) > 0;
    for (let last = open.at(-1); last && !holds(last.range); last = open.at(-1)) open.pop();
    const inside = open.map((one) => one.name);
    const ancestors = inside.length === 0 && symbol.containerName ? [symbol.containerName] : inside;
    open.push({ name: symbol.name, range });
    return {
      name: symbol.name,
      kind: symbolKind(symbol.kind),
      range,
      selection: nameRange(symbol.name, range, source),
      ancestors,
      depth: inside.length,
      ...(isDeprecated(symbol) && { deprecated: true as const }),
    };
  });
}

function nameRange(name: string, range: Range, source: SourceText): Range {
  const from = source.offsetAt(range.start);
  const at = source.text.indexOf(name, from);
  if (at < 0 || at + name.length > source.offsetAt(range.end)) return { start: range.start, end: range.start };
  return { start: source.positionAt(at), end: source.positionAt(at + name.length) };
}
