import type { AnyTool } from "@toolhaft/core";
import type { Color, ColorInformation } from "vscode-languageserver-protocol";
import { z } from "zod";
import { features } from "../features.ts";
import { compareRanges } from "../positions.ts";
import { at } from "../render/text.ts";
import { listTool } from "./list-tool.ts";
import * as schemas from "./schemas.ts";
import type { Toolbox } from "./toolbox.ts";

export function documentColors(toolbox: Toolbox): AnyTool {
  return listTool(toolbox, {
    name: "lsp_document_colors",
    title: "Colours in the document",
    description: "Every colour of a style sheet or markup, as hex, with position and spelling.",
    feature: features.colors,
    noun: "colour",
    field: "colors",
    limit: 200,
    merge: true,
    extra: {},
    item: z.object({ range: schemas.range, hex: z.string(), text: z.string() }),
    async ask(session, file) {
      const params = { textDocument: { uri: session.uri } };
      const colors = await session.request<ColorInformation[] | null>(features.colors.method, params);
      const { source } = file.text;
      return (colors ?? []).map((one) => ({
        range: one.range,
        hex: hexOf(one.color),
        text: source.text.slice(source.offsetAt(one.range.start), source.offsetAt(one.range.end)).slice(0, 100),
      }));
    },
    order: (a, b) => compareRanges(a.range, b.range),
    key: (color) => JSON.stringify([color.range, color.hex]),
    render: (colors, base) => colors.map((one) => ({ text: `${at(one.range.start, base)} ${one.hex} ${one.text}` })),
  });
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
