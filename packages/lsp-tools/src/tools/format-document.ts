import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { formatTool } from "./format-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function formatDocument(toolbox: Toolbox): AnyTool {
  return formatTool(toolbox, {
    name: "lsp_format_document",
    title: "Format a document",
    description: "Formats a whole file with the project's formatter and writes it.",
    feature: features.formatting,
    range: false,
  });
}
