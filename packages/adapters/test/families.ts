import { existsSync, readdirSync } from "node:fs";
import type { AnyTool, Family } from "@toolhaft/core";
import { floors } from "@toolhaft/testing/layers";

const packages = new URL("../../", import.meta.url);

/** How to make a family that needs to be given something. */
const given: Readonly<Record<string, (tools: readonly AnyTool[]) => unknown>> = {
  createContextTools: () => ({ sources: [] }),
  createDispatch: () => ({ agents: [] }),
  createMeta: (tools) => ({ tools }),
};

/** A family as its package makes it. */
export interface MadeFamily {
  folder: string;
  /** The function that makes it, such as `createKvMemory`. */
  create: string;
  tools: readonly AnyTool[];
}

/**
 * Every family there is; each is made, which opens nothing, and no tool is called. A package on a family's floor that gives
 * no family is a fault: the suite would pass over its tools in silence.
 */
export async function everyFamily(): Promise<readonly MadeFamily[]> {
  const made: MadeFamily[] = [];
  for (const folder of readdirSync(packages).sort()) {
    const floor = floors[folder];
    const index = new URL(`${folder}/src/index.ts`, packages);
    if ((floor !== 3 && floor !== 4) || !existsSync(index)) continue;
    const before = made.length;
    for (const [name, create] of Object.entries<unknown>(await import(index.href))) {
      if (!/^create[A-Z]/.test(name) || !isMaker(create)) continue;
      for (const { tools } of familyOf(create, given[name]?.(distinct(made))))
        made.push({ folder, create: name, tools });
    }
    if (made.length === before)
      throw new Error(`packages/${folder} gives no family: say in ${import.meta.url} how to make it`);
  }
  return made;
}

/** Tools of every family under distinct names. */
export async function everyFamilyTool(): Promise<readonly AnyTool[]> {
  return distinct(await everyFamily());
}

function distinct(families: readonly MadeFamily[]): readonly AnyTool[] {
  const found = new Map<string, AnyTool>();
  for (const { tools } of families) for (const tool of tools) if (!found.has(tool.name)) found.set(tool.name, tool);
  return [...found.values()];
}

/** Some `create…` make other things, or need what only their own tests have. */
function familyOf(create: (options?: unknown) => unknown, options: unknown): Family[] {
  try {
    const made = options === undefined ? create() : create(options);
    return isFamily(made) ? [made] : [];
  } catch {
    return [];
  }
}

function isMaker(value: unknown): value is (options?: unknown) => unknown {
  return typeof value === "function";
}

function isFamily(value: unknown): value is Family {
  return (
    typeof value === "object" && value !== null && "tools" in value && Array.isArray(value.tools) && "close" in value
  );
}
