import { createHash } from "node:crypto";
import { dirname } from "node:path";
import type { ToolContext } from "@toolhaft/core";
import { childEnvironment, isSecretName } from "@toolhaft/process";
import { mergeDeep } from "./config.ts";
import type { Json, ServerDefinition } from "./definition.ts";
import {
  behindRustup,
  type Candidate,
  type FoundPackage,
  findPrograms,
  inRange,
  nearestPackage,
  packageBeside,
  pythonOf,
  type SearchScope,
} from "./discovery.ts";
import { fillJson, fillText, type PlaceholderValues } from "./placeholders.ts";
import { foldersUp, holdsMarker } from "./roots.ts";

/** The part of a context that the engine works with. */
export type CallScope = Pick<
  ToolContext,
  "directory" | "worktree" | "roots" | "signal" | "ask" | "permits" | "progress"
>;

/** Everything needed to start one server in one way. */
export interface Launch {
  program: string;
  args: string[];
  byFolder: boolean;
  env: Record<string, string>;
  initializationOptions: Json | undefined;
  settings: { [section: string]: Json };
  /** What was left out because the folder is not trusted. */
  note: string | undefined;
}

/** A program that was found but cannot be used, in its own words. */
export interface Refused {
  program: string;
  words: string;
}

export interface LaunchPlan {
  launches: Launch[];
  refused: Refused[];
  /** Programs of the folder that were passed over because it is not trusted. */
  untrusted: string[];
}

/** Whether the folder's own code may run; asked only where the answer matters. */
export type Trusted = () => Promise<boolean>;

export function searchScope(file: string, scope: Pick<CallScope, "worktree" | "roots">): SearchScope {
  return { folders: foldersUp(file, scope.worktree), roots: [...scope.roots, scope.worktree], env: process.env };
}

/** Whether the definition's `when` holds here. Reads names and versions, runs nothing. */
export function applies(definition: ServerDefinition, search: SearchScope): boolean {
  const { when } = definition;
  if (when === undefined) return true;
  const { files, npm } = when;
  if (files && search.folders.some((folder) => holdsMarker(folder, files) !== undefined)) return true;
  if (npm === undefined) return false;
  const found = nearestPackage(npm.name, search);
  return found !== undefined && (npm.range === undefined || inRange(found.version, npm.range));
}

/** All ways to start a server here, in the order of trial. */
export async function planLaunches(
  definition: ServerDefinition,
  options: { root: string; search: SearchScope; trusted: Trusted; chosenByFolder: boolean; plugins: string[] },
): Promise<LaunchPlan> {
  const plan: LaunchPlan = { launches: [], refused: [], untrusted: [] };
  const { root, search, trusted } = options;
  const ways = [{ command: definition.command, args: definition.args }, ...(definition.alternatives ?? [])];
  for (const way of ways) {
    for (const found of await programsOf(way.command, search)) {
      const needsTrust = found.byFolder || options.chosenByFolder || definition.untrusted === false;
      if (needsTrust && !(await trusted())) {
        plan.untrusted.push(found.program);
        continue;
      }
      const behind = await behindRustup(found.program);
      if (behind && "refused" in behind) {
        plan.refused.push({ program: found.program, words: behind.refused });
        continue;
      }
      const program = behind?.program ?? found.program;
      const args = way.args ?? definition.args ?? [];
      plan.launches.push(await describe(definition, { program, args, byFolder: found.byFolder }, { ...options, root }));
    }
  }
  return plan;
}

/** A command may start with the folder of an npm package: the nearest one, then the one beside us. */
async function programsOf(command: string, search: SearchScope): Promise<Candidate[]> {
  const match = /^\$\{npm:([^}]+)\}(.*)$/.exec(command);
  if (match === null) return findPrograms(command, search);
  const [, name = "", rest = ""] = match;
  const near = nearestPackage(name, search);
  return near ? [{ program: near.folder + rest, byFolder: true }] : [];
}

async function describe(
  definition: ServerDefinition,
  chosen: Candidate & { args: string[] },
  options: { root: string; search: SearchScope; trusted: Trusted; plugins: string[] },
): Promise<Launch> {
  const packages = new Map<string, FoundPackage>();
  const skipped: string[] = [];
  for (const name of definition.usesFolderPackages ?? []) {
    const near = nearestPackage(name, options.search);
    if (near && (await options.trusted())) packages.set(name, near);
    else if (near) skipped.push(`${name} ${near.version}`);
  }
  for (const plugin of options.plugins) {
    const name = plugin.split(" ")[0] ?? "";
    const near = nearestPackage(name, options.search);
    if (near && (await options.trusted())) packages.set(name, near);
  }
  const restrict =
    typeof definition.untrusted === "object" && !(await options.trusted()) ? definition.untrusted : undefined;
  const python = pythonOf(options.search);
  const values: PlaceholderValues = {
    root: options.root,
    packageFolder: (name) => (packages.get(name) ?? packageBeside(name, chosen.program))?.folder,
    python: python !== undefined && (await options.trusted()) ? python : undefined,
  };
  const initialization = mergeDeep(
    definition.initializationOptions ?? {},
    restrict?.initializationOptions ?? {},
  ) as Json;
  const withPlugins = addPlugins(initialization, options.plugins, values);
  const hasOptions = definition.initializationOptions !== undefined || restrict?.initializationOptions !== undefined;
  const settings = mergeDeep(definition.settings ?? {}, restrict?.settings ?? {}) as Json;
  const notes = [
    ...(skipped.length > 0 ? [`the folder's own ${skipped.join(", ")} was not used`] : []),
    ...(restrict ? ["the folder's own code (build scripts, macros, configuration programs) is not run"] : []),
  ];
  const set = Object.fromEntries(Object.entries(definition.env ?? {}).filter(([name]) => !isSecretName(name)));
  const filled = fillJson(settings, values);
  return {
    program: chosen.program,
    args: chosen.args.map((arg) => fillText(arg, values) ?? arg),
    byFolder: chosen.byFolder,
    env: childEnvironment({ set }),
    initializationOptions: hasOptions || options.plugins.length > 0 ? fillJson(withPlugins, values) : undefined,
    settings: (typeof filled === "object" && filled !== null && !Array.isArray(filled)
      ? filled
      : {}) as Launch["settings"],
    note: notes.length > 0 ? `${notes.join("; ")} (workspace.run was not allowed)` : undefined,
  };
}

/** Plugins that a partner server loads for the languages of others. */
function addPlugins(initialization: Json, plugins: string[], values: PlaceholderValues): Json {
  if (plugins.length === 0) return initialization;
  const list = plugins.flatMap((plugin): Json[] => {
    const [name = "", ...languages] = plugin.split(" ");
    const folder = values.packageFolder(name);
    return folder === undefined ? [] : [{ name, location: dirname(folder), languages }];
  });
  return mergeDeep(initialization, { plugins: list }) as Json;
}

/** Tells apart servers that would be told different things. */
export function optionsKey(definition: ServerDefinition, plugins: readonly string[]): string {
  const { initializationOptions, settings, command, args, env } = definition;
  const text = JSON.stringify([command, args, env, initializationOptions, settings, plugins]);
  return createHash("sha256").update(text).digest("hex").slice(0, 12);
}
