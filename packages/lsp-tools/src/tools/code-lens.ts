import { type AnyTool, defineTool } from "@toolhaft/core";
import type { CodeLens } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { compareRanges, excerpt } from "../positions.ts";
import { at } from "../render/text.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function codeLens(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const item = z.object({ range: schemas.range, title: z.string(), command: z.string().optional(), text: z.string() });
  const { file, page } = parameters(base);
  const inputSchema = z.object({ ...file, ...page(200) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_code_lens",
    feature: features.codeLens,
    noun: "code lens",
    limit: 200,
    merge: true,
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const lenses = await session.request<CodeLens[] | null>(features.codeLens.method, params);
      const resolved = await Promise.all(
        // a lens that cannot be resolved keeps its place and has no title
        (lenses ?? []).map(async (lens) =>
          lens.command
            ? lens
            : ((await session.request<CodeLens | null>("codeLens/resolve", lens).catch(() => null)) ?? lens),
        ),
      );
      return resolved.map((lens) => ({
        range: lens.range,
        title: lens.command?.title ?? "(no title)",
        ...(lens.command?.command && { command: lens.command.command }),
        text: excerpt(file.text.source.line(lens.range.start.line), lens.range.start.character),
      }));
    },
    order: (a, b) => compareRanges(a.range, b.range),
    key: (lens) => JSON.stringify([lens.range, lens.title]),
    render: (lenses, base) =>
      lenses.map((lens) => ({ text: `${at(lens.range.start, base)} ${lens.title} | ${lens.text}` })),
  });
  return anyTool(
    defineTool({
      name: "lsp_code_lens",
      title: "Code lenses",
      description: "What an editor shows above declarations: references, implementations, runnable tests.",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, lenses: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, lenses: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.lenses }, input, toolName),
    }),
  );
}
