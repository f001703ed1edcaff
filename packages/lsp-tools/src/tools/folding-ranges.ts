import { type AnyTool, defineTool } from "@toolhaft/core";
import type { FoldingRange } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { excerpt } from "../positions.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function foldingRanges(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const item = z.object({
    startLine: z.number().int(),
    endLine: z.number().int(),
    kind: z.string().optional(),
    text: z.string(),
  });
  const { file, page } = parameters(base);
  const inputSchema = z.object({ ...file, ...page(500) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_folding_ranges",
    feature: features.folding,
    noun: "folding range",
    limit: 500,
    merge: false,
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const ranges = await session.request<FoldingRange[] | null>(features.folding.method, params);
      return (ranges ?? []).map((range) => ({
        startLine: range.startLine,
        endLine: range.endLine,
        ...(range.kind !== undefined && { kind: range.kind }),
        text: excerpt(file.text.source.line(range.startLine), 0),
      }));
    },
    order: (a, b) => a.startLine - b.startLine || b.endLine - a.endLine,
    render: (ranges, base) =>
      ranges.map((range) => ({
        text: `${range.startLine + base}-${range.endLine + base}${range.kind ? ` ${range.kind}` : ""} ${range.text}`,
      })),
  });
  return anyTool(
    defineTool({
      name: "lsp_folding_ranges",
      title: "Folding ranges",
      description: "Blocks of a file: bodies, imports, comments, regions, with first and last line.",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, ranges: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, ranges: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.ranges }, input, toolName),
    }),
  );
}
