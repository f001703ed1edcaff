import { type AnyTool, nearest, type Toolset, toolset } from "@toolhaft/core";
import { CommandFault, exitCodes, usageFault } from "./exit-codes.ts";
import { chooseFamilies, type FamilyEntry, type FamilyOptions } from "./families.ts";

export interface ToolChoice extends FamilyOptions {
  families: readonly string[];
  tools?: readonly string[] | undefined;
  without?: readonly string[] | undefined;
  readOnly?: boolean | undefined;
}

/** Loads the chosen families and narrows their tools. */
export async function loadTools(choice: ToolChoice, known: readonly FamilyEntry[]): Promise<Toolset> {
  const entries = chooseFamilies(choice.families, known);
  const families = await Promise.all(entries.map((entry) => entry.load(choice)));
  let set = toolset(...families);
  try {
    if (choice.readOnly) set = set.readOnly();
    if (choice.tools !== undefined) set = set.pick(...choice.tools);
    if (choice.without !== undefined) set = set.omit(...choice.without);
  } catch (error) {
    await set.close();
    // A pattern that matches nothing is a typo on the command line.
    throw error instanceof TypeError ? usageFault(error.message) : error;
  }
  return set;
}

/** The named tool out of every family this command knows. */
export async function findTool(
  name: string,
  choice: ToolChoice,
  known: readonly FamilyEntry[],
): Promise<{ tool: AnyTool; set: Toolset }> {
  const families = choice.families.length > 0 ? choice.families : ["all"];
  const set = await loadTools({ ...choice, families, readOnly: false }, known);
  const tool = set.get(name);
  if (tool !== undefined && !(choice.readOnly && !tool.annotations.readOnlyHint)) return { tool, set };
  await set.close();
  if (tool !== undefined) throw new CommandFault(exitCodes.denied, `${name} writes, and --read-only was given`);
  const near = nearest(
    name,
    set.tools.map((entry) => entry.name),
  );
  throw usageFault(
    `unknown tool "${name}"${near.length > 0 ? `: did you mean ${near.join(", ")}?` : ""} "toolhaft list all" shows every tool`,
  );
}
