import type { AnyTool } from "@toolhaft/core";
import type { SemanticTokens, SemanticTokensOptions } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Session } from "../ask.ts";
import { features } from "../features.ts";
import { decodeTokens } from "../semantic-tokens.ts";
import { checkLine } from "../target.ts";
import { listTool } from "./list-tool.ts";
import type { Toolbox } from "./toolbox.ts";

const { method } = features.semanticTokens;

export function semanticTokens(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const number = (text: string) => z.number().int().min(base).optional().describe(text);
  return listTool(toolbox, {
    name: "lsp_semantic_tokens",
    title: "Semantic tokens",
    description: "What each name in a span is: function, parameter, type, readonly, deprecated …",
    feature: features.semanticTokens,
    noun: "token",
    field: "tokens",
    limit: 500,
    merge: false,
    extra: {
      startLine: number("First line."),
      endLine: number("Last line."),
      types: z.array(z.string()).optional().describe("function, variable …"),
    },
    item: z.object({
      line: z.number().int(),
      character: z.number().int(),
      length: z.number().int(),
      text: z.string(),
      type: z.string(),
      modifiers: z.array(z.string()),
    }),
    prepare(file, input) {
      if (input.startLine !== undefined) checkLine(file, input.startLine - base, base);
      if (input.endLine !== undefined) checkLine(file, input.endLine - base, base);
    },
    async ask(session, file, input) {
      const { source } = file.text;
      const options = optionsOf(session);
      if (!options) return [];
      const first = (input.startLine ?? base) - base;
      const last = input.endLine === undefined ? source.lineCount - 1 : input.endLine - base;
      const wantsSpan = input.startLine !== undefined || input.endLine !== undefined;
      const textDocument = { uri: session.uri };
      const range = {
        start: { line: first, character: 0 },
        end: { line: last, character: source.line(last).length },
      };
      const byRange = options.range && (wantsSpan || !options.full);
      const tokens = byRange
        ? await session.request<SemanticTokens | null>(`${method}/range`, { textDocument, range })
        : await session.request<SemanticTokens | null>(`${method}/full`, { textDocument });
      return decodeTokens(tokens, options.legend, source, session.life.encoding).filter(
        (token) => token.line >= first && token.line <= last && (!input.types || input.types.includes(token.type)),
      );
    },
    render(tokens) {
      const lines = new Map<number, string[]>();
      for (const token of tokens) {
        const kind = [token.type, ...token.modifiers].join(".");
        lines.set(token.line, [...(lines.get(token.line) ?? []), `${token.text} ${kind}`]);
      }
      return [...lines].map(([line, list]) => ({ text: `${line + base}: ${list.join(", ")}`, count: list.length }));
    },
  });
}

function optionsOf(session: Session): SemanticTokensOptions | undefined {
  const fixed = session.life.capabilities.semanticTokensProvider;
  if (fixed) return fixed;
  const document = { uri: session.uri, languageId: session.languageId };
  const [dynamic] = session.life.registrations.options(method, document);
  return dynamic as unknown as SemanticTokensOptions | undefined;
}
