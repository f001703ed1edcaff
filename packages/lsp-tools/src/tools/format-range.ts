import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { formatTool } from "./format-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function formatRange(toolbox: Toolbox): AnyTool {
  return formatTool(toolbox, {
    name: "lsp_format_range",
    title: "Format a range",
    description: "Formats some lines or one symbol of a file and writes it.",
    feature: features.rangeFormatting,
    range: true,
  });
}
