import { dirname, join } from "node:path";
import { type Family, nearest } from "@toolhaft/core";
import type { MemoryOptions } from "@toolhaft/memory";
import type { SessionsOptions } from "@toolhaft/session";
import type { TasksOptions } from "@toolhaft/tasks";
import { usageFault } from "./exit-codes.ts";

/** What the command line and the config say to a family. */
export interface FamilyOptions {
  /** `--store`, or `TOOLHAFT_STORE`: a folder, or a database's address. */
  store?: string | undefined;
  /** `--sessions`: hosts whose sessions are read. */
  sessions?: readonly string[] | undefined;
  /** The file that language servers are read from; `false`: none. */
  lspConfig?: string | false | undefined;
  /** `options.<family>` of the config. */
  options?: Readonly<Record<string, Readonly<Record<string, unknown>>>> | undefined;
}

export interface FamilyEntry {
  name: string;
  /** Served when nobody names a family. */
  byDefault: boolean;
  /** Whether `all` takes it in. @default always */
  inAll?(options: Pick<FamilyOptions, "options">): boolean;
  /** Loads the package; making the family opens nothing. */
  load(options: FamilyOptions): Promise<Family>;
}

/** Every family this command knows; a new one is one line here and one dependency. */
export const registry: readonly FamilyEntry[] = [
  {
    name: "assets",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/assets")).createAssets({
        ...given.options?.assets,
        ...storeFolder(given, "stateDir"),
      }),
  },
  {
    name: "context",
    byDefault: true,
    load: async (given) =>
      (await import("./project-context.ts")).createProjectContext({
        ...storeFolder(given, "stateDir"),
        ...(databaseOf(given) !== undefined && { places: given }),
      }),
  },
  {
    name: "dispatch",
    byDefault: false,
    // Its agents spend money: they are served by name, or where the config lists them.
    inAll: ({ options }) => options?.dispatch?.agents !== undefined,
    load: async (given) => (await import("./dispatch-family.ts")).createDispatchFamily(given),
  },
  {
    name: "functions",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/functions")).createFunctions({
        ...given.options?.functions,
        ...storeFile(given, "path", "functions.db"),
      }),
  },
  {
    name: "hashline",
    byDefault: true,
    load: async (given) => (await import("@toolhaft/hashline")).createHashline(given.options?.hashline),
  },
  {
    name: "lsp-tools",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/lsp-tools")).createLspTools({
        ...given.options?.["lsp-tools"],
        ...(given.lspConfig !== undefined && { configFile: given.lspConfig }),
      }),
  },
  {
    name: "memory",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/memory")).createMemory({
        ...given.options?.memory,
        ...(await memoryPlace(given)),
      }),
  },
  {
    name: "session",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/session")).createSessions({
        ...given.options?.session,
        ...(await sessionPlace(given)),
        ...storeFile(given, "indexPath", "session-index.db"),
        ...(given.sessions !== undefined && { stores: given.sessions.map(sessionHost) }),
      }),
  },
  {
    name: "tasks",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/tasks")).createTasks({
        ...given.options?.tasks,
        ...(await tasksPlace(given)),
      }),
  },
  {
    name: "web",
    byDefault: true,
    load: async (given) =>
      (await import("@toolhaft/web")).createWeb({ downloadTimeoutSeconds: mcpPatience, ...given.options?.web }),
  },
];

/** Seconds: hosts give a call up after 60, and a download goes on with the next. */
const mcpPatience = 45;

/** Where tasks are kept: a database, a file in the folder of `--store`, or the workspace's own. */
export async function tasksPlace(given: FamilyOptions): Promise<Pick<TasksOptions, "path" | "store">> {
  const connectionString = databaseOf(given);
  if (connectionString === undefined) return storeFile(given, "path", "tasks.db");
  return { store: (await import("@toolhaft/postgres/tasks")).postgresTasks({ connectionString }) };
}

export async function memoryPlace(given: FamilyOptions): Promise<Pick<MemoryOptions, "path" | "store">> {
  const connectionString = databaseOf(given);
  if (connectionString === undefined) return storeFile(given, "path", "memory.db");
  return { store: (await import("@toolhaft/postgres/memory")).postgresMemoryStore({ connectionString }) };
}

/** Where recorded sessions are kept; transcripts of hosts stay on their machine, and so does the index over them. */
export async function sessionPlace(given: FamilyOptions): Promise<Pick<SessionsOptions, "path" | "store">> {
  const connectionString = databaseOf(given);
  if (connectionString === undefined) return storeFile(given, "path", "sessions.db");
  return { store: (await import("@toolhaft/postgres/session")).postgresSessionStore({ connectionString }) };
}

function databaseOf({ store }: FamilyOptions): string | undefined {
  return store !== undefined && /^postgres(ql)?:\/\//.test(store) ? store : undefined;
}

/** A family's file in the folder of `--store`; nothing without that flag. */
export function storeFile<K extends string>(given: FamilyOptions, key: K, file: string): { [name in K]?: string } {
  // A store of one family may be named by its file; the others' stand beside it.
  return storePlace(given, key, (place) => {
    if (!place.endsWith(".db")) return join(place, file);
    return file === "tasks.db" ? place : join(dirname(place), file);
  });
}

/** The folder of `--store` itself. */
export function storeFolder<K extends string>(given: FamilyOptions, key: K): { [name in K]?: string } {
  return storePlace(given, key, (place) => (place.endsWith(".db") ? dirname(place) : place));
}

function storePlace<K extends string>(
  given: FamilyOptions,
  key: K,
  place: (folder: string) => string,
): { [name in K]?: string } {
  // A family that has no store in a database keeps its files where they are without the flag.
  if (given.store === undefined || databaseOf(given) !== undefined) return {};
  return { [key]: place(given.store) } as { [name in K]?: string };
}

export const sessionHosts = ["claude-code", "codex", "opencode"] as const;

function sessionHost(name: string): (typeof sessionHosts)[number] {
  const host = sessionHosts.find((known) => known === name);
  if (host !== undefined) return host;
  const near = nearest(name, sessionHosts);
  throw usageFault(
    `--sessions ${name}: ${near.length > 0 ? `did you mean ${near.join(", ")}? ` : ""}Known are ${sessionHosts.join(", ")}`,
  );
}

/** The families of some names: none means the default ones, `all` every one. */
export function chooseFamilies(
  names: readonly string[],
  known: readonly FamilyEntry[] = registry,
  others: readonly string[] = [],
  given: Pick<FamilyOptions, "options"> = {},
): readonly FamilyEntry[] {
  if (names.length === 0) return known.filter(({ byDefault }) => byDefault);
  if (names.includes("all")) return known.filter(({ name, inAll }) => names.includes(name) || (inAll?.(given) ?? true));
  return [...new Set(names)].flatMap((name) => {
    const entry = known.find((family) => family.name === name);
    if (entry !== undefined) return [entry];
    if (others.includes(name)) return [];
    const all = [...known.map((family) => family.name), ...others];
    const near = nearest(name, all);
    throw usageFault(
      `unknown family "${name}"${near.length > 0 ? `: did you mean ${near.join(", ")}?` : ""} There are: ${all.join(", ")}, all`,
    );
  });
}
