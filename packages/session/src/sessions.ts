import { join } from "node:path";
import { type AnyTool, alias, type Clock, type Family, systemClock } from "@toolhaft/core";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import { claudeCodeStore } from "./claude-code/store.ts";
import { codexStore } from "./codex/store.ts";
import type { PriceTable } from "./cost.ts";
import type { Desk } from "./desk.ts";
import { opencodeStore } from "./opencode/store.ts";
import type { SessionStore } from "./store.ts";
import { sqliteSessionStore } from "./stores/sqlite.ts";
import type { IndexedStore } from "./stores/transcript-store.ts";
import { diffTool } from "./tools/diff.ts";
import { forkTool } from "./tools/fork.ts";
import { infoTool } from "./tools/info.ts";
import { listTool } from "./tools/list.ts";
import { readTool } from "./tools/read.ts";
import { searchTool } from "./tools/search.ts";
import { migrations } from "./transcripts/schema.ts";

export type HostName = "claude-code" | "codex" | "opencode";

export interface SessionsOptions {
  /** Hosts by name, or stores. @default the built-in store alone */
  stores?: readonly (SessionStore | IndexedStore | HostName)[];
  /** File of the built-in store. @default `<directory>/.toolhaft/sessions.db` */
  path?: string;
  /** What recorded sessions are kept in instead of a file, like a database's store; closed with the family. */
  store?: SessionStore;
  /** File of the index over hosts' transcripts. @default `<directory>/.toolhaft/session-index.db` */
  indexPath?: string;
  /** `all`: sessions of other projects are read without a question. @default "ask" */
  projects?: "ask" | "all";
  /** Adds `session_inspect`, `session_changes`, `session_branch`. @default true */
  aliases?: boolean;
  prices?: PriceTable;
  /** Secrets are shown as `[secret: <kind>]`. @default true */
  redact?: boolean;
  /** Whose days a bare date means. @default "UTC" */
  timeZone?: string;
  /** Milliseconds that one call may spend on new bytes of transcripts. @default 3_000 */
  indexMs?: number;
  /** Milliseconds that one search may spend on bytes outside the index. @default 10_000 */
  scanMs?: number;
  /** A longer line is never held in memory as a whole. @default 16 MiB */
  maxLineBytes?: number;
  clock?: Clock;
}

export interface Sessions extends Family {
  readonly name: "session";
}

/**
 * The session family. Opens nothing before the first call.
 *
 * @throws TypeError for an unknown host name or time zone
 */
export function createSessions(options: SessionsOptions = {}): Sessions {
  const clock = options.clock ?? systemClock;
  const timeZone = options.timeZone ?? "UTC";
  checkTimeZone(timeZone);
  if (options.store !== undefined && options.path !== undefined)
    throw new TypeError("createSessions: give either path or store");
  const homes = new Map<string, Home>();
  const desk: Desk = {
    stores({ directory }) {
      let home = homes.get(directory);
      if (home === undefined) {
        home = new Home(directory, options, clock);
        homes.set(directory, home);
      }
      return home.stores;
    },
    projects: options.projects ?? "ask",
    prices: options.prices,
    redact: options.redact ?? true,
    timeZone,
    indexMs: options.indexMs ?? 3_000,
    scanMs: options.scanMs ?? 10_000,
  };
  const close = async () => {
    const open = [...homes.values()];
    homes.clear();
    for (const home of open) await home.close();
  };
  return { name: "session", tools: toolsOf(desk, options.aliases ?? true), close, [Symbol.asyncDispose]: close };
}

function toolsOf(desk: Desk, aliases: boolean): readonly AnyTool[] {
  const info = infoTool(desk);
  const diff = diffTool(desk);
  const fork = forkTool(desk);
  const tools: AnyTool[] = [listTool(desk), searchTool(desk), readTool(desk), info, diff, fork];
  if (aliases)
    tools.push(alias(info, "session_inspect"), alias(diff, "session_changes"), alias(fork, "session_branch"));
  return Object.freeze(tools);
}

/** The stores as one directory sees them, with the one index behind those of hosts. */
class Home {
  readonly stores: readonly SessionStore[];
  #database: Promise<Database> | undefined;

  constructor(directory: string, options: SessionsOptions, clock: Clock) {
    const open = () => {
      this.#database ??= openDatabase({
        path: options.indexPath ?? join(directory, ".toolhaft", "session-index.db"),
        migrations,
        family: "session-index",
        clock,
        onRebuild() {},
      }).catch((error: unknown) => {
        // The next call tries again: what stood in the way may be gone.
        this.#database = undefined;
        throw error;
      });
      return this.#database;
    };
    const home = { database: open, clock, maxLineBytes: options.maxLineBytes ?? 16 * 1024 * 1024 };
    const builtIn =
      options.store ?? sqliteSessionStore({ path: options.path ?? join(directory, ".toolhaft", "sessions.db"), clock });
    const given = (options.stores ?? []).map((store) => (typeof store === "string" ? hostStore(store) : store));
    this.stores = [builtIn, ...given.map((store) => ("attach" in store ? store.attach(home) : store))];
  }

  async close(): Promise<void> {
    for (const store of this.stores) await store[Symbol.asyncDispose]();
    const database = await this.#database;
    this.#database = undefined;
    database?.close();
  }
}

function hostStore(name: HostName): IndexedStore | SessionStore {
  switch (name) {
    case "claude-code":
      return claudeCodeStore();
    case "codex":
      return codexStore();
    case "opencode":
      return opencodeStore();
    default:
      throw new TypeError(`createSessions: unknown host "${String(name)}"; there are claude-code, codex, opencode`);
  }
}

function checkTimeZone(timeZone: string): void {
  try {
    new Intl.DateTimeFormat("en", { timeZone });
  } catch (error) {
    throw new TypeError(`createSessions: timeZone "${timeZone}" is not known: write a name such as "Europe/Berlin"`, {
      cause: error,
    });
  }
}
