import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { placeTool } from "./place-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function gotoDeclaration(toolbox: Toolbox): AnyTool {
  return placeTool(toolbox, {
    name: "lsp_goto_declaration",
    title: "Go to declaration",
    description: "Where a name is declared, where that is not its definition.",
    feature: features.declaration,
    noun: "declaration",
    limit: 50,
    merge: false,
    insteadHint: "lsp_goto_definition does nearly the same",
  });
}
