import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { usageFault } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { environmentSettings } from "./environment.ts";
import { loadSettings, type Settings } from "./load.ts";

/** What a command line may say about settings. */
export interface SettingFlags {
  config?: string | undefined;
  directory?: string | undefined;
  families?: readonly string[];
  tools?: readonly string[] | undefined;
  without?: readonly string[] | undefined;
  allow?: readonly string[] | undefined;
  ask?: readonly string[] | undefined;
  deny?: readonly string[] | undefined;
  readOnly?: boolean | undefined;
  lazy?: boolean | undefined;
  structured?: boolean | undefined;
}

/** Settings with what the command line said. */
export interface ChosenSettings extends Settings {
  /** Patterns that somebody has just typed: one that matches nothing is a slip. */
  typed: string[];
}

/** Flags over `TOOLHAFT_*` over the folder's config over the user's. Rules and omissions of all of them hold. */
export function settingsOf(flags: SettingFlags, io: Pick<Io, "env" | "cwd">): ChosenSettings {
  const env = environmentSettings(io);
  const chosen = flags.directory ?? env.directory;
  const directory = chosen === undefined ? undefined : folder(chosen, io.cwd, flags.directory === undefined);
  const files = loadSettings(io, flags.config, directory ?? io.cwd);
  const all = (key: "allow" | "ask" | "deny" | "without") => [
    ...(files[key] ?? []),
    ...(env[key] ?? []),
    ...(flags[key] ?? []),
  ];
  const merged: ChosenSettings = {
    ...files,
    ...env,
    mcpServers: files.mcpServers,
    typed: [...(flags.tools ?? []), ...(flags.without ?? [])],
  };
  for (const key of ["allow", "ask", "deny", "without"] as const) merged[key] = all(key);
  if (flags.tools !== undefined) merged.tools = [...flags.tools];
  if (flags.families !== undefined && flags.families.length > 0) {
    merged.families = [...flags.families];
    merged.onlyFamilies = undefined;
  }
  merged.readOnly = flags.readOnly === true || env.readOnly === true || files.readOnly === true;
  merged.lazy = flags.lazy ?? merged.lazy ?? false;
  merged.structured = flags.structured ?? merged.structured ?? false;
  if (directory !== undefined) merged.directory = directory;
  else if (files.directory !== undefined) merged.directory = folder(files.directory, io.cwd, true);
  return merged;
}

/** An existing folder, or the reason why not. */
function folder(path: string, cwd: string, fromSettings: boolean): string {
  const name = fromSettings ? "directory" : "--directory";
  const absolute = resolve(cwd, path);
  let isFolder = false;
  try {
    isFolder = statSync(absolute).isDirectory();
  } catch (error) {
    throw usageFault(`${name} ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isFolder) throw usageFault(`${name} ${path}: this is no folder`);
  return realpathSync(absolute);
}
