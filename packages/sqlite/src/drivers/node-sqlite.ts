import type { Parameters, SqlValue } from "../database.ts";
import type { Connection, Driver, Statement } from "../driver.ts";

/** The part of `node:sqlite` that is used here; it first came with Node 22. */
interface NodeSqlite {
  DatabaseSync: new (path: string, options?: { readOnly?: boolean }) => NodeDatabase;
  backup?(source: NodeDatabase, path: string, options?: { rate?: number }): Promise<unknown>;
}
interface NodeDatabase {
  exec(sql: string): void;
  prepare(sql: string): NodeStatement;
  close(): void;
}
interface NodeStatement {
  run(...parameters: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint };
  get(...parameters: unknown[]): unknown;
  all(...parameters: unknown[]): unknown[];
  iterate(...parameters: unknown[]): IterableIterator<unknown>;
}

/** The runtime's own SQLite, or undefined where there is none with FTS5 and lazy rows (Node before 22.13). */
export function loadNodeSqlite(): Driver | undefined {
  const sqlite = builtIn();
  if (!sqlite) return undefined;
  const probe = new sqlite.DatabaseSync(":memory:");
  try {
    if (typeof probe.prepare("SELECT 1").iterate !== "function") return undefined;
    const option = probe.prepare("SELECT sqlite_compileoption_used('ENABLE_FTS5') AS used").get();
    if (!isUsed(option)) return undefined;
  } finally {
    probe.close();
  }
  return {
    name: "node:sqlite",
    open: (path, { readOnly }) => connect(sqlite, new sqlite.DatabaseSync(path, { readOnly })),
  };
}

function builtIn(): NodeSqlite | undefined {
  const module: unknown = process.getBuiltinModule?.("node:sqlite");
  return isNodeSqlite(module) ? module : undefined;
}

function isNodeSqlite(module: unknown): module is NodeSqlite {
  return typeof module === "object" && module !== null && "DatabaseSync" in module;
}

function isUsed(row: unknown): boolean {
  return typeof row === "object" && row !== null && "used" in row && row.used === 1;
}

function connect(sqlite: NodeSqlite, native: NodeDatabase): Connection {
  return {
    exec: (sql) => native.exec(sql),
    prepare: (sql) => prepare(native.prepare(sql)),
    async backup(path) {
      if (sqlite.backup) await sqlite.backup(native, path, { rate: 100_000 });
      else native.prepare("VACUUM INTO ?").run(path);
    },
    close: () => native.close(),
  };
}

function prepare(statement: NodeStatement): Statement {
  return {
    run(parameters) {
      const { changes, lastInsertRowid } = statement.run(...bindable(parameters));
      return { changes: Number(changes), lastInsertRowid: BigInt(lastInsertRowid) };
    },
    get: (parameters) => statement.get(...bindable(parameters)),
    all: (parameters) => statement.all(...bindable(parameters)),
    iterate: (parameters) => statement.iterate(...bindable(parameters)),
  };
}

function bindable(parameters: Parameters | undefined): unknown[] {
  if (parameters === undefined) return [];
  if (isList(parameters)) return parameters.map(whole);
  return [Object.fromEntries(Object.entries(parameters).map(([name, value]) => [name, whole(value)]))];
}

function isList(parameters: Parameters): parameters is readonly SqlValue[] {
  return Array.isArray(parameters);
}

/** The binding stores every number as REAL; a bigint becomes INTEGER. */
function whole(value: SqlValue): SqlValue {
  return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
}
