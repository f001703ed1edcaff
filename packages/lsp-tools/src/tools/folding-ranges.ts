import type { AnyTool } from "@toolhaft/core";
import type { FoldingRange } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { excerpt } from "../positions.ts";
import { listTool } from "./list-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function foldingRanges(toolbox: Toolbox): AnyTool {
  return listTool(toolbox, {
    name: "lsp_folding_ranges",
    title: "Folding ranges",
    description: "Blocks of a file: bodies, imports, comments, regions, with first and last line.",
    feature: features.folding,
    noun: "folding range",
    field: "ranges",
    limit: 500,
    merge: false,
    extra: {},
    item: z.object({
      startLine: z.number().int(),
      endLine: z.number().int(),
      kind: z.string().optional(),
      text: z.string(),
    }),
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
}
