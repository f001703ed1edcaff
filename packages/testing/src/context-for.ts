import { type ContextInit, createContext, type ToolContext } from "@toolhaft/core";

/** A stand-alone context in a folder: the default policy, nobody to ask, agent `main`. */
export function contextFor(directory: string, init: ContextInit = {}): ToolContext {
  return createContext({ directory, ...init });
}
