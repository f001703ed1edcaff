import { type AnyTool, defineTool } from "@toolhaft/core";
import type { Color, ColorInformation } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { compareRanges, cutText } from "../positions.ts";
import { at } from "../render/text.ts";
import { createListing } from "./listing.ts";
import { parameters } from "./parameters.ts";
import * as schemas from "./schemas.ts";
import { anyTool, readOnly, type Toolbox } from "./toolbox.ts";

export function documentColors(toolbox: Toolbox): AnyTool {
  const { base } = toolbox;
  const item = z.object({ range: schemas.range, hex: z.string(), text: z.string() });
  const { file, page } = parameters(base);
  const inputSchema = z.object({ ...file, ...page(200) });
  const listing = createListing<z.infer<typeof item>, z.infer<typeof inputSchema>>(toolbox, {
    name: "lsp_document_colors",
    feature: features.colors,
    noun: "colour",
    limit: 200,
    merge: true,
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const colors = await session.request<ColorInformation[] | null>(features.colors.method, params);
      const { source } = file.text;
      return (colors ?? []).map((one) => ({
        range: one.range,
        hex: hexOf(one.color),
        text: cutText(source.text.slice(source.offsetAt(one.range.start), source.offsetAt(one.range.end)), 100),
      }));
    },
    order: (a, b) => compareRanges(a.range, b.range),
    key: (color) => JSON.stringify([color.range, color.hex]),
    render: (colors, base) => colors.map((one) => ({ text: `${at(one.range.start, base)} ${one.hex} ${one.text}` })),
  });
  return anyTool(
    defineTool({
      name: "lsp_document_colors",
      title: "Colours in the document",
      description: "Every colour of a style sheet or markup, as hex, with position and spelling.",
      inputSchema,
      outputSchema: z.object({ ...schemas.answer, ...schemas.page, colors: z.array(item) }),
      annotations: readOnly,
      async execute(input, context) {
        const { items, ...rest } = await listing.find(input, context);
        return { ...rest, colors: items };
      },
      render: (output, input, toolName) => listing.text({ ...output, items: output.colors }, input, toolName),
    }),
  );
}

/** `#rrggbb`, with alpha `#rrggbbaa`. */
function hexOf(color: Color): string {
  const byte = (part: number) =>
    Math.max(0, Math.min(255, Math.round(part * 255)))
      .toString(16)
      .padStart(2, "0");
  const alpha = color.alpha >= 1 ? "" : byte(color.alpha);
  return `#${byte(color.red)}${byte(color.green)}${byte(color.blue)}${alpha}`;
}
