import type { AnyTool } from "@toolhaft/core";
import { steps } from "../hierarchy.ts";
import { hierarchyTool } from "./hierarchy-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function typeHierarchySubtypes(toolbox: Toolbox): AnyTool {
  return hierarchyTool(toolbox, {
    name: "lsp_type_hierarchy_subtypes",
    title: "Subtypes",
    description: "The types that extend or implement a type, level by level.",
    feature: "typeHierarchy",
    noun: "subtype",
    step: steps.subtypes,
    items: false,
  });
}
