import { type AnyTool, type Family, nearest, ToolError, type Toolset, toolset } from "@toolhaft/core";
import type { McpFamily } from "@toolhaft/mcp";
import type { ServerConfig } from "./config/schema.ts";
import type { ChosenSettings } from "./config/settings.ts";
import { CommandFault, exitCodes, usageFault } from "./exit-codes.ts";
import { chooseFamilies, type FamilyEntry, type FamilyOptions } from "./families.ts";

export interface ToolChoice extends FamilyOptions {
  settings: ChosenSettings;
  /** What could not be had: a bridged server that does not start. */
  note(text: string): void;
}

/** Loads the chosen families and bridged servers and narrows their tools. */
export async function loadTools(choice: ToolChoice, known: readonly FamilyEntry[]): Promise<Toolset> {
  const { settings } = choice;
  const options = familyOptions(choice);
  const families = await Promise.all(chosenEntries(settings, known).map((entry) => entry.load(options)));
  const bridged = await bridge(chosenServers(settings), choice);
  return narrowed(await joined([...families, ...bridged]), choice);
}

/** The named tool out of every family this command knows; servers are asked only when it is none of those. */
export async function findTool(
  name: string,
  choice: ToolChoice,
  known: readonly FamilyEntry[],
): Promise<{ tool: AnyTool; set: Toolset }> {
  const { readOnly, mcpServers } = choice.settings;
  const options = familyOptions(choice);
  let set = await joined(await Promise.all(known.map((entry) => entry.load(options))));
  if (set.get(name) === undefined && Object.keys(mcpServers).length > 0)
    set = await joined([set, ...(await bridge(Object.entries(mcpServers), choice))]);
  const tool = set.get(name);
  if (tool !== undefined && !(readOnly && !tool.annotations.readOnlyHint)) return { tool, set };
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

/** Whether the names are families, servers and patterns at all, before a client waits for them. */
export function checkChoice(settings: ChosenSettings, known: readonly FamilyEntry[]): void {
  chosenEntries(settings, known);
}

function chosenEntries(settings: ChosenSettings, known: readonly FamilyEntry[]) {
  const { families = [], onlyFamilies, mcpServers } = settings;
  const chosen = chooseFamilies(families, known, Object.keys(mcpServers), settings);
  if (onlyFamilies === undefined || onlyFamilies.includes("all")) return chosen;
  return chosen.filter(({ name }) => onlyFamilies.includes(name));
}

function chosenServers({ families = [], onlyFamilies, mcpServers }: ChosenSettings): [string, ServerConfig][] {
  const named = onlyFamilies ?? families;
  const all = Object.entries(mcpServers);
  if (named.length === 0 || named.includes("all")) return all;
  return all.filter(([name]) => named.includes(name));
}

/** @throws CommandFault when two of them have a tool of one name */
async function joined(parts: readonly (Family | Toolset)[]): Promise<Toolset> {
  try {
    return toolset(...parts);
  } catch (error) {
    await Promise.all(parts.map((part) => part.close()));
    throw error instanceof TypeError ? usageFault(error.message) : error;
  }
}

function familyOptions({ store, sessions, lspConfig, settings }: ToolChoice): FamilyOptions {
  return {
    store,
    sessions,
    lspConfig: lspConfig ?? settings.lspConfig,
    options: settings.options,
  };
}

/** One server's fault does not keep the others from their work. */
async function bridge(servers: readonly [string, ServerConfig][], { note }: ToolChoice): Promise<Family[]> {
  if (servers.length === 0) return [];
  const families = await Promise.all(
    servers.map(async ([name, server]) => {
      try {
        return await openServer(name, server, note);
      } catch (error) {
        if (!(error instanceof ToolError || error instanceof TypeError)) throw error;
        note(`mcpServers.${name}: ${error.message}`);
        return undefined;
      }
    }),
  );
  return families.filter((family) => family !== undefined);
}

/** The bridge to one server of the config. */
export async function openServer(name: string, server: ServerConfig, note: (text: string) => void): Promise<McpFamily> {
  const { fromMcp } = await import("@toolhaft/mcp");
  const { command, args, env, cwd, url, headers, ...options } = server;
  const source =
    command === undefined
      ? { url: url ?? "", ...(headers && { headers }) }
      : { command, ...(args && { args }), ...(env && { env }), ...(cwd !== undefined && { cwd }) };
  if (command === undefined && !URL.canParse(url ?? ""))
    throw new TypeError(`url ${JSON.stringify(url)} is no address`);
  return fromMcp(source, { name, ...known(options), onError: (error) => note(`mcpServers.${name}: ${error.message}`) });
}

/** `type` is what other clients write; it says nothing that command or url do not. */
function known(options: Omit<ServerConfig, "command" | "url">) {
  const { prefix, pick, omit, pins, timeoutMs, elicit } = options;
  return {
    ...(prefix !== undefined && { prefix }),
    ...(pick && { pick }),
    ...(omit && { omit }),
    ...(pins && { pins }),
    ...(timeoutMs !== undefined && { timeoutMs }),
    ...(elicit !== undefined && { elicit }),
  };
}

async function narrowed(whole: Toolset, { settings, note }: ToolChoice): Promise<Toolset> {
  const { readOnly, tools, without = [], typed } = settings;
  try {
    // What was just typed has to match something; a config is written once for all families, and what it says of tools
    // that are not here says nothing.
    for (const pattern of typed) whole.pick(pattern);
    const set = readOnly ? whole.readOnly() : whole;
    const omitted = without.filter((pattern) => matches(set, pattern));
    const left = omitted.length === 0 ? set : set.omit(...omitted);
    if (tools === undefined) return left;
    const picked = tools.filter((pattern) => matches(left, pattern));
    if (picked.length > 0) return left.pick(...picked);
    note(`no tool is left: nothing here matches ${tools.join(", ")}`);
    return { ...toolset(), close: () => whole.close() };
  } catch (error) {
    await whole.close();
    // A pattern that matches nothing is a typo on the command line.
    throw error instanceof TypeError ? usageFault(error.message) : error;
  }
}

function matches(set: Toolset, pattern: string): boolean {
  try {
    return set.pick(pattern).tools.length > 0;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}
