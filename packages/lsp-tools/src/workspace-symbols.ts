import { existsSync } from "node:fs";
import type { SymbolInformation, WorkspaceSymbol } from "vscode-languageserver-protocol";
import type { Range } from "./answer.ts";
import { symbolKind } from "./symbols.ts";
import { realPathOf, uriToPath } from "./uris.ts";

export interface FoundSymbol {
  path: string;
  symbol: string;
  name: string;
  kind: string;
  container?: string;
  range: Range;
  selection: Range;
  depth: number;
  deprecated?: true;
}

const nowhere: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };

/** Exact name first, then prefix, then the servers' order; grouped by kind inside each; each once; gone files left out. */
export function rankSymbols(
  symbols: readonly (SymbolInformation | WorkspaceSymbol)[],
  wanted: { query: string; kind?: string | undefined },
  shown: (path: string) => string,
): FoundSymbol[] {
  const query = wanted.query.toLowerCase();
  const rank = (name: string) => {
    const plain = name.replace(/\(.*$/s, "");
    if (plain === wanted.query) return 0;
    if (plain.toLowerCase() === query) return 1;
    return plain.toLowerCase().startsWith(query) ? 2 : 3;
  };
  const unique = new Map<string, FoundSymbol>();
  for (const symbol of symbols) {
    const kind = symbolKind(symbol.kind);
    if (wanted.kind !== undefined && kind !== wanted.kind.toLowerCase()) continue;
    const { uri } = symbol.location;
    const path = uriToPath(uri);
    if (path !== undefined && !existsSync(path)) continue;
    const range = "range" in symbol.location ? symbol.location.range : nowhere;
    const deprecated = symbol.tags?.includes(1) || ("deprecated" in symbol && symbol.deprecated === true);
    const found: FoundSymbol = {
      path: path === undefined ? uri : shown(realPathOf(path)),
      symbol: symbol.containerName ? `${symbol.containerName}/${symbol.name}` : symbol.name,
      name: symbol.name,
      kind,
      ...(symbol.containerName && { container: symbol.containerName }),
      range,
      selection: range,
      depth: 0,
      ...(deprecated && { deprecated: true as const }),
    };
    const { start, end } = range;
    const key = [found.path, start.line, start.character, end.line, end.character, found.name].join("\0");
    if (!unique.has(key)) unique.set(key, found);
  }
  const list = [...unique.values()].map((symbol, index) => ({ symbol, rank: rank(symbol.name), index }));
  const kindOrder = new Map<string, number>();
  const sorted = list.sort((a, b) => a.rank - b.rank || a.index - b.index);
  for (const { symbol, rank: level } of sorted) {
    const key = `${level}\0${symbol.kind}`;
    if (!kindOrder.has(key)) kindOrder.set(key, kindOrder.size);
  }
  const groupOf = (one: (typeof sorted)[number]) => kindOrder.get(`${one.rank}\0${one.symbol.kind}`) ?? 0;
  return sorted.sort((a, b) => groupOf(a) - groupOf(b) || a.index - b.index).map((one) => one.symbol);
}
