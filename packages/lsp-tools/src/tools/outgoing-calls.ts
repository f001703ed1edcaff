import type { AnyTool } from "@toolhaft/core";
import { steps } from "../hierarchy.ts";
import { hierarchyTool } from "./hierarchy-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function outgoingCalls(toolbox: Toolbox): AnyTool {
  return hierarchyTool(toolbox, {
    name: "lsp_outgoing_calls",
    title: "Outgoing calls",
    description: "What a function calls, level by level, with the call sites.",
    feature: "callHierarchy",
    noun: "callee",
    step: steps.outgoing,
    items: true,
  });
}
