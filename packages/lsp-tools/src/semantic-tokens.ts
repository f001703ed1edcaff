import type { SemanticTokens, SemanticTokensLegend } from "vscode-languageserver-protocol";
import type { Encoding } from "./definition.ts";
import { decodeColumn, type SourceText } from "./positions.ts";

export interface Token {
  line: number;
  character: number;
  length: number;
  text: string;
  type: string;
  modifiers: string[];
}

/** The relative five-number form as tokens; columns and lengths are converted from the server's encoding. */
export function decodeTokens(
  tokens: SemanticTokens | null,
  legend: SemanticTokensLegend,
  source: SourceText,
  encoding: Encoding,
): Token[] {
  const data = tokens?.data ?? [];
  const decoded: Token[] = [];
  let line = 0;
  let column = 0;
  for (let at = 0; at + 4 < data.length; at += 5) {
    const [deltaLine = 0, deltaColumn = 0, length = 0, type = 0, bits = 0] = data.slice(at, at + 5);
    if (deltaLine > 0) column = 0;
    line += deltaLine;
    column += deltaColumn;
    const text = source.line(line);
    const start = decodeColumn(text, column, encoding);
    const end = decodeColumn(text, column + length, encoding);
    decoded.push({
      line,
      character: start,
      length: end - start,
      text: text.slice(start, end),
      type: legend.tokenTypes[type] ?? `type${type}`,
      modifiers: legend.tokenModifiers.filter((_, index) => (bits & (1 << index)) !== 0),
    });
  }
  return decoded;
}
