import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { nearest } from "@toolhaft/core";
import manifest from "../../package.json" with { type: "json" };
import { CommandFault, exitCodes, usageFault } from "../exit-codes.ts";
import { chooseFamilies, type FamilyEntry } from "../families.ts";
import { type ClientFile, clients, serverCommand } from "../init/clients.ts";
import { readJson, setJson } from "../init/json-edit.ts";
import { diffOf } from "../init/text-diff.ts";
import { readToml, setTomlTable } from "../init/toml-edit.ts";
import type { Io } from "../io.ts";

export interface InitFlags {
  write?: boolean;
  global?: boolean;
  windows?: boolean;
  force?: boolean;
  format?: "v1" | "v2";
}

/** Settings for one client: printed, or written without losing what is there. */
export function init(
  name: string,
  families: readonly string[],
  flags: InitFlags,
  io: Io,
  known: readonly FamilyEntry[],
): number {
  const client = clients.find((each) => each.name === name);
  if (client === undefined) {
    const names = clients.map((each) => each.name);
    const near = nearest(name, names);
    throw usageFault(
      `unknown client "${name}"${near.length > 0 ? `: did you mean ${near.join(", ")}?` : ""} There are: ${names.join(", ")}`,
    );
  }
  chooseFamilies(families, known);
  const file = fileOf(client, flags, io);
  const before = existing(file);
  const command = serverCommand(manifest.version, families, flags.windows ?? process.platform === "win32");
  const { path, entry } = entryOf(client, command, before, flags, file);
  const present = before.trim() === "" ? undefined : valueAt(readAny(client, before, file), path);
  const same = isDeepStrictEqual(plain(present), plain(entry));
  const write = (text: string): string =>
    client.format === "toml" ? setTomlTable(text, path.join("."), entry, file) : setJson(text, path, entry, file);
  if (flags.write !== true) {
    io.out(write(""));
    io.err(`toolhaft: this belongs into ${file}; --write puts it there\n`);
    return exitCodes.done;
  }
  if (same) {
    io.err(`toolhaft: ${file} has it already\n`);
    return exitCodes.done;
  }
  const after = write(before);
  if (present !== undefined && flags.force !== true) {
    io.err(diffOf(before, after, file));
    throw usageFault(`${file} has another entry for toolhaft; --force puts this one in its place`);
  }
  save(file, after);
  io.out(diffOf(before, after, file));
  io.err(`toolhaft: wrote ${file}; start ${client.title} anew to use it\n`);
  return exitCodes.done;
}

function fileOf(client: ClientFile, { global }: InitFlags, io: Io): string {
  const home = io.env.HOME ?? io.env.USERPROFILE ?? homedir();
  const places = global
    ? client.global({
        home,
        platform: process.platform,
        appData: io.env.APPDATA,
        config: io.env.XDG_CONFIG_HOME ?? join(home, ".config"),
      })
    : client.project.map((path) => resolve(io.cwd, path));
  const [first = ""] = places;
  return places.find((place) => existsSync(place)) ?? first;
}

function existing(file: string): string {
  try {
    if (statSync(file).isDirectory()) throw usageFault(`${file} is a folder`);
    return readFileSync(file, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error) {
      if (error.code === "ENOENT") return "";
      throw new CommandFault(exitCodes.unavailable, `cannot read ${file}: ${error.message}`);
    }
    throw error;
  }
}

interface Entry {
  path: string[];
  entry: Record<string, unknown>;
}

function entryOf(client: ClientFile, command: readonly string[], text: string, flags: InitFlags, file: string): Entry {
  const [program = "", ...args] = command;
  if (client.format !== "opencode")
    return { path: [client.key, "toolhaft"], entry: { ...client.extra, command: program, args, ...trailing(client) } };
  const version = flags.format ?? formatOf(text, file) ?? installedFormat();
  if (version === undefined)
    throw usageFault(
      "the settings of opencode 1 and 2 differ, and neither this file nor the program tells which it is: say --format v1 or --format v2",
    );
  return version === "v1"
    ? { path: ["mcp", "toolhaft"], entry: { type: "local", command: [...command], enabled: true } }
    : { path: ["mcp", "servers", "toolhaft"], entry: { type: "local", command: [...command], disabled: false } };
}

/** Codex reads its settings in any order; people read the command first. */
function trailing({ format, extra }: ClientFile): Readonly<Record<string, unknown>> {
  return format === "toml" ? extra : {};
}

/** Which of the two the file already uses. */
function formatOf(text: string, file: string): "v1" | "v2" | undefined {
  const mcp = text.trim() === "" ? undefined : valueAt(readJson(text.replace(/^\uFEFF/, ""), file), ["mcp"]);
  if (typeof mcp !== "object" || mcp === null) return undefined;
  const entries = Object.entries(mcp);
  const isServer = (value: unknown) =>
    typeof value === "object" && value !== null && ("type" in value || "command" in value || "enabled" in value);
  if (entries.some(([, value]) => isServer(value))) return "v1";
  return "servers" in mcp ? "v2" : undefined;
}

function installedFormat(): "v1" | "v2" | undefined {
  try {
    const [program = ""] = clients.flatMap(({ name, format }) => (format === "opencode" ? [name] : []));
    const version = execFileSync(program, ["--version"], {
      encoding: "utf8",
      timeout: 10_000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const major = /(\d+)\.\d+\.\d+/.exec(version)?.[1];
    return major === undefined ? undefined : Number(major) >= 2 ? "v2" : "v1";
  } catch {
    // Not installed, or it does not say: the caller asks.
    return undefined;
  }
}

function readAny(client: ClientFile, text: string, file: string): unknown {
  return client.format === "toml" ? readToml(text, file) : readJson(text.replace(/^\uFEFF/, ""), file);
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) =>
      typeof at === "object" && at !== null && Object.hasOwn(at, key)
        ? (at as Record<string, unknown>)[key]
        : undefined,
    value,
  );
}

function plain(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value, (_key, each: unknown) => (typeof each === "bigint" ? Number(each) : each)));
}

/** All or nothing: written beside the file and moved into its place, with its rights; a link stays a link. */
function save(file: string, text: string): void {
  const real = existsSync(file) ? realpathSync(file) : file;
  const next = `${real}.toolhaft-${process.pid}`;
  try {
    mkdirSync(dirname(real), { recursive: true });
    writeFileSync(next, text, { flag: "wx" });
    if (existsSync(real)) chmodSync(next, statSync(real).mode & 0o777);
    renameSync(next, real);
  } catch (error) {
    rmSync(next, { force: true });
    throw new CommandFault(
      exitCodes.unavailable,
      `cannot write ${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
