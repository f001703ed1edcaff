import type { AnyTool } from "@toolhaft/core";
import { features } from "../features.ts";
import { placeTool } from "./place-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function gotoImplementation(toolbox: Toolbox): AnyTool {
  return placeTool(toolbox, {
    name: "lsp_goto_implementation",
    title: "Go to implementation",
    description: "The classes and methods that implement an interface, abstract class or method.",
    feature: features.implementation,
    noun: "implementation",
    limit: 100,
    merge: true,
  });
}
