import { type AnyTool, defineTool, ToolError } from "@toolhaft/core";
import type { SemanticTokens } from "vscode-languageserver-protocol";
import { z } from "zod";
import type { Session } from "../ask.ts";
import { features } from "../features.ts";
import { decodeTokens } from "../semantic-tokens.ts";
import { checkLine } from "../target.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

const { method } = features.semanticTokens;

export function semanticTokens(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const number = (text: string) => z.number().int().min(base).optional().describe(text);
  const item = z.object({
    line: z.number().int(),
    character: z.number().int(),
    length: z.number().int(),
    text: z.string(),
    type: z.string(),
    modifiers: z.array(z.string()),
  });
  const { file, page } = parameters(base);
  const extra = {
    startLine: number("First line."),
    endLine: number("Last line."),
    types: z.array(z.string()).optional().describe("function, variable …"),
  };
  const inputSchema = z.object({ ...file, ...extra, ...page(500) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_semantic_tokens",
    feature: features.semanticTokens,
    noun: "token",
    limit: 500,
    merge: false,
    prepare(file, input) {
      if (input.startLine !== undefined) checkLine(file, input.startLine - base, base);
      if (input.endLine !== undefined) checkLine(file, input.endLine - base, base);
    },
    async ask(session, file, input) {
      const { source } = file.text;
      const options = optionsOf(session);
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
  return anyTool(
    defineTool({
      name: "lsp_semantic_tokens",
      title: "Semantic tokens",
      description: "What each name in a span is: function, parameter, type, readonly, deprecated …",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, tokens: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, tokens: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.tokens }, input, toolName),
    }),
  );
}

const offered = z.union([z.boolean(), z.looseObject({})]).nullish();
const announcement = z.object({
  legend: z.object({ tokenTypes: z.array(z.string()), tokenModifiers: z.array(z.string()) }),
  full: offered,
  range: offered,
});

/** What the server announces of its tokens. @throws ToolError `upstream` when that has no legend to read them by */
function optionsOf(session: Session): z.infer<typeof announcement> {
  const { life, uri, languageId } = session;
  const [dynamic] = life.registrations.options(method, { uri, languageId });
  const options = announcement.safeParse(life.capabilities.semanticTokensProvider ?? dynamic);
  if (options.success) return options.data;
  throw new ToolError("upstream", `${life.id} announces semantic tokens without a legend`, {
    hint: "an update of this language server may help",
  });
}
