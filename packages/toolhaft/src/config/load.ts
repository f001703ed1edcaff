import { readFileSync, realpathSync, statSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { usageFault } from "../exit-codes.ts";
import type { Io } from "../io.ts";
import { parseConfig } from "./parse.ts";
import { type Config, configKeys, type ServerConfig } from "./schema.ts";
import { hashOf, readTrust, userFolder } from "./trust.ts";

export const configName = "toolhaft.config.json";
const maxBytes = 1_024 * 1_024;

/** A config file as it was found. */
export interface FoundConfig {
  /** Its real path. */
  path: string;
  hash: string;
  config: Config;
}

/** @returns undefined where there is no such file. @throws CommandFault for one that is no config. */
export function readConfig(path: string): FoundConfig | undefined {
  let bytes: Buffer;
  try {
    const { size } = statSync(path);
    if (statSync(path).isDirectory()) throw usageFault(`${path} is a folder, not a config file`);
    if (size > maxBytes) throw usageFault(`${path} has ${size} bytes; a config has at most ${maxBytes}`);
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return undefined;
    if (error instanceof Error && "code" in error) throw usageFault(`${path}: ${error.message}`);
    throw error;
  }
  return { path: realpathSync(path), hash: hashOf(bytes), config: parseConfig(bytes.toString("utf8"), path) };
}

/** What all files, the environment and trust come to; flags are laid over it by each command. */
export interface Settings extends Omit<Config, "mcpServers"> {
  /** Bridged servers with absolute working directories. */
  mcpServers: Record<string, ServerConfig>;
  /** The file that language servers are read from; `false`: none. */
  lspConfig: string | false;
  /** What was left out, for the user. */
  warnings: string[];
  folder: { path: string; trusted: boolean; ignored: string[] } | undefined;
  /** Families that a folder without trust leaves of those served anyway. */
  onlyFamilies: string[] | undefined;
}

/**
 * The user's own config, then the folder's. A folder's may always narrow; what widens or runs something counts once its
 * very bytes are trusted. Nobody is asked here.
 *
 * @param given `--config`: a file that the user names is the user's word.
 */
export function loadSettings(io: Pick<Io, "env" | "cwd">, given: string | undefined, directory: string): Settings {
  const user = readConfig(join(userFolder(io), "config.json"));
  const named = given === undefined ? undefined : readConfig(resolve(io.cwd, given));
  if (given !== undefined && named === undefined) throw usageFault(`--config ${given}: there is no such file`);
  const found = named ?? readConfig(join(directory, configName));
  const trusted =
    found !== undefined &&
    (named !== undefined || found.path === user?.path || readTrust(io).isTrusted(found.path, found.hash));
  const ignored = found === undefined || trusted ? [] : wideningKeys(found, directory);
  const own = user === undefined ? {} : absolute(user.config, dirname(user.path));
  const folder = found === undefined ? {} : absolute(without(found.config, ignored), dirname(found.path));
  const warnings =
    ignored.length === 0 || found === undefined
      ? []
      : [
          `${found.path}: ${ignored.join(", ")} ${ignored.length === 1 ? "is" : "are"} ignored until you have looked at the file and run: toolhaft trust`,
        ];
  const hasLsp = (config: Config) => config.lsp !== undefined;
  return {
    ...merge(own, trusted ? folder : without(folder, ["families"])),
    mcpServers: { ...own.mcpServers, ...folder.mcpServers },
    lspConfig:
      found !== undefined && hasLsp(folder) ? found.path : user !== undefined && hasLsp(own) ? user.path : false,
    warnings,
    folder: found === undefined ? undefined : { path: found.path, trusted, ignored },
    onlyFamilies: trusted ? undefined : folder.families,
  };
}

/** Keys of a folder's config that do more than narrow. A directory below the folder does not. */
export function wideningKeys({ config, path }: FoundConfig, directory: string): string[] {
  return Object.keys(config).filter((key) => {
    if (key !== "directory") return configKeys[key]?.widens === true;
    const inside = relative(directory, resolve(dirname(path), config.directory ?? ""));
    return inside.startsWith("..") || isAbsolute(inside);
  });
}

function without(config: Config, keys: readonly string[]): Config {
  return Object.fromEntries(Object.entries(config).filter(([key]) => !keys.includes(key)));
}

function absolute(config: Config, from: string): Config {
  const servers = Object.entries(config.mcpServers ?? {}).map(([name, server]): [string, ServerConfig] => [
    name,
    server.command === undefined ? server : { ...server, cwd: resolve(from, server.cwd ?? ".") },
  ]);
  return {
    ...config,
    ...(config.directory !== undefined && { directory: resolve(from, config.directory) }),
    ...(config.mcpServers !== undefined && { mcpServers: Object.fromEntries(servers) }),
  };
}

/** Rules and omissions of both hold; of the rest the folder's wins. */
function merge(user: Config, folder: Config): Config {
  const both = (key: "allow" | "ask" | "deny" | "without") => [...(user[key] ?? []), ...(folder[key] ?? [])];
  const merged: Config = { ...user, ...folder };
  for (const key of ["allow", "ask", "deny", "without"] as const) {
    const list = both(key);
    if (list.length > 0) merged[key] = list;
  }
  if (user.readOnly === true) merged.readOnly = true;
  if (user.options !== undefined || folder.options !== undefined)
    merged.options = { ...user.options, ...folder.options };
  return merged;
}
