import { ToolError } from "@toolhaft/core";
import type { DriverName, Parameters } from "./database.ts";
import { loadBetterSqlite3 } from "./drivers/better-sqlite3.ts";
import { loadNodeSqlite } from "./drivers/node-sqlite.ts";

export interface Statement {
  run(parameters?: Parameters): { changes: number; lastInsertRowid: bigint };
  get(parameters?: Parameters): unknown;
  all(parameters?: Parameters): unknown[];
  iterate(parameters?: Parameters): IterableIterator<unknown>;
}

export interface Connection {
  exec(sql: string): void;
  prepare(sql: string): Statement;
  backup(path: string): Promise<void>;
  close(): void;
}

/** The port over the two SQLite bindings. */
export interface Driver {
  readonly name: DriverName;
  open(path: string, options: { readOnly: boolean }): Connection;
}

type Cause = "not installed" | "install script was not run" | "built for another Node" | "could not be loaded";

const remedies: Record<Cause, string> = {
  "not installed": "npm install better-sqlite3@12.11.1",
  "install script was not run":
    "npm install-scripts approve better-sqlite3 && npm rebuild better-sqlite3 (pnpm: pnpm approve-builds; npx: npx --allow-scripts=better-sqlite3 …)",
  "built for another Node": "npm rebuild better-sqlite3",
  "could not be loaded": "npm rebuild better-sqlite3",
};

/**
 * The wanted driver, else better-sqlite3, else the runtime's own SQLite.
 *
 * @throws ToolError `unavailable` with the cause and the one line to type
 */
export async function loadDriver(wanted?: DriverName): Promise<Driver> {
  if (wanted === "node:sqlite") {
    const builtIn = loadNodeSqlite();
    if (builtIn) return builtIn;
    throw new ToolError("unavailable", `node:sqlite with FTS5 is not part of Node ${process.versions.node}`, {
      hint: "use Node 22.13 or later, or the driver better-sqlite3",
    });
  }
  try {
    return await loadBetterSqlite3();
  } catch (error) {
    const builtIn = wanted === undefined ? loadNodeSqlite() : undefined;
    if (builtIn) return builtIn;
    const cause = causeOf(error);
    throw new ToolError("unavailable", `SQLite cannot be loaded: better-sqlite3 ${cause}`, {
      hint: `${remedies[cause]} — or Node 22.13 or later, which needs no native module`,
      cause: error,
    });
  }
}

function causeOf(error: unknown): Cause {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const message = error instanceof Error ? error.message : String(error);
  if (
    /NODE_MODULE_VERSION|different Node\.js version|invalid ELF header|file too short|wrong ELF class|not a valid Win32|mach-o/i.test(
      message,
    )
  ) {
    return "built for another Node";
  }
  if (/could not locate the bindings file/i.test(message)) return "install script was not run";
  if (code === "ERR_MODULE_NOT_FOUND" || code === "MODULE_NOT_FOUND") return "not installed";
  return "could not be loaded";
}
