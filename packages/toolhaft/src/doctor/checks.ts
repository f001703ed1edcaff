import { access, constants, mkdtemp, rm, stat } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { isToolError } from "@toolhaft/core";
import { childEnvironment, runProgram } from "@toolhaft/process";
import type { Settings } from "../config/load.ts";
import type { Io } from "../io.ts";

/** One line of `doctor`. */
export interface Check {
  name: string;
  /** `missing`: not installed. `broken`: there, and of no use. */
  status: "ok" | "missing" | "broken";
  detail: string;
  /** What to type on this system. */
  install?: string;
  /** The config chose it: without it the command does not do what it was told to. */
  chosen: boolean;
}

type Fault = Omit<Check, "name" | "chosen">;

export function checkNode(): Check {
  return {
    name: "node",
    status: "ok",
    detail: `${process.version} on ${process.platform} ${process.arch}`,
    chosen: false,
  };
}

/** Opens a database in a folder of its own that is removed again. */
export async function checkSqlite(chosen: boolean): Promise<Check> {
  const folder = await mkdtemp(join(tmpdir(), "toolhaft-doctor-"));
  try {
    const { openDatabase } = await import("@toolhaft/sqlite");
    await using database = await openDatabase({
      path: join(folder, "doctor.db"),
      family: "doctor",
      migrations: [{ version: 1, name: "search", up: "CREATE VIRTUAL TABLE words USING fts5(text)" }],
    });
    return { name: "sqlite", status: "ok", detail: `${database.driver} with FTS5`, chosen };
  } catch (error) {
    return { name: "sqlite", chosen, ...faultOf(error, "missing") };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Where families keep their state; asked, not made. */
export async function checkState(folder: string): Promise<Check> {
  const name = "state folder";
  for (let place = folder; ; place = dirname(place)) {
    const found = await stat(place).catch(() => undefined);
    if (found === undefined && place !== dirname(place)) continue;
    if (found?.isDirectory() !== true)
      return {
        name,
        status: "broken",
        detail: `${place} is no folder`,
        install: `mv ${place} ${place}.old`,
        chosen: true,
      };
    const writable = await access(place, constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    return writable
      ? { name, status: "ok", detail: place === folder ? folder : `${folder} can be made`, chosen: true }
      : {
          name,
          status: "broken",
          detail: `${place} cannot be written to`,
          install: `chmod u+wx ${place}`,
          chosen: true,
        };
  }
}

export async function checkGit(io: Io): Promise<Check> {
  try {
    const env = childEnvironment({ inherit: [] });
    const { stdout } = await runProgram({
      command: "git",
      args: ["--version"],
      cwd: io.cwd,
      env: { ...env, PATH: io.env.PATH ?? "" },
      timeoutMs: 20_000,
    });
    return { name: "git", status: "ok", detail: stdout.trim(), chosen: false };
  } catch (error) {
    return { name: "git", chosen: false, ...faultOf(error, "missing"), install: installLine("git") };
  }
}

export async function checkLanguages(directory: string, settings: Settings): Promise<Check[]> {
  const chosen = new Set(namesIn(settings.lsp?.servers));
  try {
    const { checkLanguageServers } = await import("@toolhaft/lsp-tools");
    const found = await checkLanguageServers(directory, { configFile: settings.lspConfig });
    return found.map(({ id, ...line }) => ({ name: `language server ${id}`, ...line, chosen: chosen.has(id) }));
  } catch (error) {
    return [{ name: "language servers", chosen: chosen.size > 0, ...faultOf(error, "broken") }];
  }
}

const browsers = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "msedge", "microsoft-edge"];
const browserPlaces = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
];

export async function checkBrowser(io: Io): Promise<Check> {
  const name = "chromium";
  const given = io.env.CHROMIUM_PATH || undefined;
  if (given !== undefined) {
    const status = (await isProgram(given)) ? "ok" : "broken";
    const detail = status === "ok" ? given : `CHROMIUM_PATH names ${given}, which is no program`;
    return { name, status, detail, chosen: true, ...(status === "broken" && { install: installLine("chromium") }) };
  }
  for (const browser of browsers) {
    const path = await onPath(browser, io);
    if (path !== undefined) return { name, status: "ok", detail: path, chosen: false };
  }
  for (const path of browserPlaces)
    if (await isProgram(path)) return { name, status: "ok", detail: path, chosen: false };
  const detail = "pages that need scripts cannot be read without a browser";
  return { name, status: "missing", detail, install: installLine("chromium"), chosen: false };
}

export function checkSearch(): Check {
  const detail = "DuckDuckGo, Wikipedia, npm and Hacker News need no key";
  return { name: "search", status: "ok", detail, chosen: false };
}

/** Whether a database answers at the address; nothing is said to it. */
export function checkPostgres(address: string): Promise<Check> {
  const name = "postgres";
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined)
    return Promise.resolve({ name, status: "broken", detail: "TOOLHAFT_STORE is no address", chosen: true });
  const port = Number(url.port === "" ? 5_432 : url.port);
  const place = `${url.hostname}:${port}`;
  return new Promise((resolve) => {
    const socket = connect({ host: url.hostname.replace(/^\[|\]$/g, ""), port, timeout: 5_000 });
    const end = (check: Fault) => {
      socket.destroy();
      resolve({ name, chosen: true, ...check });
    };
    socket.once("connect", () => end({ status: "ok", detail: `${place} answers` }));
    socket.once("timeout", () => end({ status: "broken", detail: `${place} does not answer within 5 s` }));
    socket.once("error", (error) => end({ status: "broken", detail: `${place}: ${error.message}` }));
  });
}

/** Bridged servers by their program or address; starting them is left to who uses them. */
export async function checkServers({ mcpServers }: Settings, io: Io): Promise<Check[]> {
  return Promise.all(
    Object.entries(mcpServers).map(async ([id, { command, url }]): Promise<Check> => {
      const name = `MCP server ${id}`;
      if (command === undefined)
        return URL.canParse(url ?? "")
          ? { name, status: "ok", detail: new URL(url ?? "").origin, chosen: true }
          : { name, status: "broken", detail: `${url} is no address`, chosen: true };
      const path = /[/\\]/.test(command)
        ? (await isProgram(command))
          ? command
          : undefined
        : await onPath(command, io);
      return path === undefined
        ? {
            name,
            status: "missing",
            detail: `${command} is not installed or not on the PATH`,
            install: installLine(command),
            chosen: true,
          }
        : { name, status: "ok", detail: path, chosen: true };
    }),
  );
}

async function onPath(program: string, { env }: Io): Promise<string | undefined> {
  const suffixes = process.platform === "win32" ? ["", ".exe", ".cmd", ".bat"] : [""];
  for (const folder of (env.PATH ?? "").split(delimiter)) {
    if (folder === "") continue;
    for (const suffix of suffixes) {
      const path = join(folder, program + suffix);
      if (await isProgram(path)) return path;
    }
  }
  return undefined;
}

async function isProgram(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isFile() !== true) return false;
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

function faultOf(error: unknown, otherwise: "missing" | "broken"): Fault {
  if (!isToolError(error)) return { status: "broken", detail: error instanceof Error ? error.message : String(error) };
  const install = error.hint === undefined ? {} : { install: error.hint };
  return { status: error.code === "unavailable" ? otherwise : "broken", detail: error.message, ...install };
}

function installLine(program: string): string {
  const windows: Readonly<Record<string, string>> = { git: "Git.Git", chromium: "Google.Chrome" };
  switch (process.platform) {
    case "darwin":
      return program === "chromium" ? "brew install --cask chromium" : `brew install ${program}`;
    case "win32":
      return `winget install ${windows[program] ?? program}`;
    default:
      return `sudo apt-get install ${program}`;
  }
}

function namesIn(value: unknown): string[] {
  if (Array.isArray(value))
    return value.flatMap((entry) =>
      typeof entry === "object" && entry !== null && "id" in entry ? [String(entry.id)] : [],
    );
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}
