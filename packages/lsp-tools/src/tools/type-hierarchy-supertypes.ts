import type { AnyTool } from "@toolhaft/core";
import { steps } from "../hierarchy.ts";
import { hierarchyTool } from "./hierarchy-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function typeHierarchySupertypes(toolbox: Toolbox): AnyTool {
  return hierarchyTool(toolbox, {
    name: "lsp_type_hierarchy_supertypes",
    title: "Supertypes",
    description: "The classes and interfaces that a type extends or implements, level by level.",
    feature: "typeHierarchy",
    noun: "supertype",
    step: steps.supertypes,
    items: false,
  });
}
