import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  assetSource,
  type ContextFamily,
  type ContextSource,
  createContextTools,
  filesSource,
  memorySource,
  sessionSource,
  taskSource,
} from "@toolhaft/context";
import { type FamilyOptions, memoryPlace, sessionPlace, tasksPlace } from "./families.ts";

/** A source of one workspace, and what must be closed in the end. */
interface Opened {
  source: ContextSource;
  close(): unknown;
}

/** What opens a source of a workspace; its package is loaded by then and not before. */
interface Opener {
  name: string;
  /** File of the store in the state folder; while it is not there nothing was stored, and nothing is opened. */
  file?: string;
  /** @param stateDir folder of the stores @param database where `--store` names one */
  open(directory: string, stateDir: string, database: FamilyOptions | undefined): Promise<Opened>;
}

const openers: readonly Opener[] = [
  {
    name: "memory",
    file: "memory.db",
    async open(_, stateDir, database) {
      const { createMemory } = await import("@toolhaft/memory");
      const place =
        database === undefined
          ? { path: join(stateDir, "memory.db") }
          : { ...database.options?.memory, ...(await memoryPlace(database)) };
      const memory = createMemory({ ...place, recordUse: false });
      return { source: memorySource(memory), close: () => memory.close() };
    },
  },
  {
    name: "task",
    file: "tasks.db",
    async open(_, stateDir, database) {
      const { sqliteTasks } = await import("@toolhaft/tasks");
      const given = database === undefined ? undefined : (await tasksPlace(database)).store;
      const tasks = given ?? sqliteTasks({ path: join(stateDir, "tasks.db") });
      return { source: taskSource(tasks.store), close: () => tasks[Symbol.asyncDispose]() };
    },
  },
  {
    name: "session",
    file: "sessions.db",
    async open(_, stateDir, database) {
      const { sqliteSessionStore } = await import("@toolhaft/session");
      const given = database === undefined ? undefined : (await sessionPlace(database)).store;
      const sessions = given ?? sqliteSessionStore({ path: join(stateDir, "sessions.db") });
      return { source: sessionSource(sessions.reader), close: () => sessions[Symbol.asyncDispose]() };
    },
  },
  {
    name: "asset",
    async open(directory, stateDir) {
      const { createAssets } = await import("@toolhaft/assets");
      const assets = createAssets({ directory, stateDir });
      return { source: assetSource(assets.catalog), close: () => assets.close() };
    },
  },
];

/**
 * The context family over the stores of the workspace that a call works in.
 *
 * @param options `stateDir`: one folder of stores for all. @default `.toolhaft` of the workspace.
 *   `places`: what names a database that they are in instead.
 */
export function createProjectContext(options: { stateDir?: string; places?: FamilyOptions } = {}): ContextFamily {
  const stateDirOf = (directory: string) => options.stateDir ?? join(directory, ".toolhaft");
  const sources = openers.map((opener) => perDirectory(opener, stateDirOf, options.places));
  const family = createContextTools({ sources: [...sources.map(({ source }) => source), filesSource()] });
  const close = async () => {
    await family.close();
    for (const { close } of sources) await close();
  };
  return { ...family, close, [Symbol.asyncDispose]: close };
}

/** One open store a workspace, whatever the number of calls; a store that could not be opened is tried anew. */
function perDirectory(
  { name, file, open }: Opener,
  stateDirOf: (directory: string) => string,
  database: FamilyOptions | undefined,
): Opened {
  const opened = new Map<string, Promise<Opened>>();
  const openOnce = (directory: string): Promise<Opened> => {
    const known = opened.get(directory);
    if (known) return known;
    const opening = open(directory, stateDirOf(directory), database).catch((error: unknown) => {
      opened.delete(directory);
      throw error;
    });
    opened.set(directory, opening);
    return opening;
  };
  return {
    source: {
      name,
      async search(query, signal) {
        const { directory } = query.caller;
        if (database === undefined && file !== undefined && !existsSync(join(stateDirOf(directory), file))) return [];
        return (await openOnce(directory)).source.search(query, signal);
      },
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      for (const one of all) await (await one).close();
    },
  };
}
