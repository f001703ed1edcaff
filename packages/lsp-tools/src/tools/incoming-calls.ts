import type { AnyTool } from "@toolhaft/core";
import { steps } from "../hierarchy.ts";
import { hierarchyTool } from "./hierarchy-tool.ts";
import type { Toolbox } from "./toolbox.ts";

export function incomingCalls(toolbox: Toolbox): AnyTool {
  return hierarchyTool(toolbox, {
    name: "lsp_incoming_calls",
    title: "Incoming calls",
    description: "Who calls a function, level by level, with the call sites.",
    feature: "callHierarchy",
    noun: "caller",
    step: steps.incoming,
    items: true,
  });
}
