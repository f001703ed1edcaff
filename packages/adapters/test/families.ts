import type { AnyTool } from "@toolhaft/core";

/** Tools of every family there is; each is made, none is called. */
export async function everyFamilyTool(): Promise<readonly AnyTool[]> {
  return [];
}
