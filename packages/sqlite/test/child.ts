import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@toolhaft/testing";

/** Starts a fixture as a real process; it imports the built package. */
export function startFixture(name: string, args: readonly string[], node?: string): Child {
  return startChild(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)), args, node);
}
