import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { placeTool } from "./place-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function gotoDefinition(toolbox: Toolbox): AnyTool {
  return placeTool(toolbox, {
    name: "lsp_goto_definition",
    title: "Go to definition",
    description: "Where a name is defined. Use before reading or changing code that you only see used.",
    feature: features.definition,
    noun: "definition",
    limit: 50,
    merge: true,
  });
}
