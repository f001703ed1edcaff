import type { AnyTool, Tool } from "@toolhaft/core";
import type { Engine } from "../engine.ts";
import type { HierarchyItems } from "../hierarchy-items.ts";

/** What the tools of one family share. */
export interface Toolbox {
  engine: Engine;
  /** The first number of lines and columns in parameters and texts. */
  base: 0 | 1;
  items: HierarchyItems;
}

/** The hints of a tool that only looks. */
export const readOnly = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

/** The hints of a tool that changes files. */
export const writes = {
  readOnlyHint: false,
  destructiveHint: true,
  idempotentHint: false,
  openWorldHint: false,
} as const;

/** A typed tool as one of many. */
export function anyTool<I, O, P>(tool: Tool<I, O, P>): AnyTool {
  return tool as AnyTool;
}
