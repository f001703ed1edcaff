import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { placeTool } from "./place-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function gotoTypeDefinition(toolbox: Toolbox): AnyTool {
  return placeTool(toolbox, {
    name: "lsp_goto_type_definition",
    title: "Go to type definition",
    description: "Where the type of a value is defined, not the value itself.",
    feature: features.typeDefinition,
    noun: "type definition",
    limit: 50,
    merge: false,
  });
}
