import type { Parameters, SqlValue } from "../database.ts";
import type { Connection, Driver, Statement } from "../driver.ts";

type Module = typeof import("better-sqlite3");
type Native = InstanceType<Module>;

/** Loads the native module; throws what it throws when that is absent or built for another Node. */
export async function loadBetterSqlite3(): Promise<Driver> {
  const { default: Database } = await import("better-sqlite3");
  // The package finds its native file only when a database is made.
  new Database(":memory:").close();
  return {
    name: "better-sqlite3",
    open: (path, { readOnly }) => connect(new Database(path, { readonly: readOnly, timeout: 0 })),
  };
}

function connect(native: Native): Connection {
  return {
    exec: (sql) => void native.exec(sql),
    prepare: (sql) => prepare(native, sql),
    async backup(path) {
      // Few big steps: a copy in small ones starts over whenever another process writes.
      await native.backup(path, { progress: () => 100_000 });
    },
    close: () => void native.close(),
  };
}

function prepare(native: Native, sql: string): Statement {
  const statement = native.prepare<unknown[], unknown>(sql);
  return {
    run(parameters) {
      if (statement.reader) {
        statement.all(...bindable(parameters));
        const row = native
          .prepare<[], { changes: number; id: bigint }>("SELECT changes() AS changes, last_insert_rowid() AS id")
          .safeIntegers()
          .get();
        return { changes: Number(row?.changes ?? 0), lastInsertRowid: row?.id ?? 0n };
      }
      const { changes, lastInsertRowid } = statement.run(...bindable(parameters));
      return { changes, lastInsertRowid: BigInt(lastInsertRowid) };
    },
    get(parameters) {
      if (statement.reader) return statement.get(...bindable(parameters));
      statement.run(...bindable(parameters));
      return undefined;
    },
    all(parameters) {
      if (statement.reader) return statement.all(...bindable(parameters));
      statement.run(...bindable(parameters));
      return [];
    },
    iterate: (parameters) => statement.iterate(...bindable(parameters)),
  };
}

function bindable(parameters: Parameters | undefined): unknown[] {
  if (parameters === undefined) return [];
  if (isList(parameters)) return parameters.some(isInteger) ? parameters.map(widen) : [...parameters];
  for (const name in parameters) {
    const value = parameters[name];
    if (value !== undefined && isInteger(value)) {
      return [Object.fromEntries(Object.entries(parameters).map(([key, given]) => [key, widen(given)]))];
    }
  }
  return [parameters];
}

function isList(parameters: Parameters): parameters is readonly SqlValue[] {
  return Array.isArray(parameters);
}

/** The binding stores whole numbers as REAL unless they come as bigint: past 32 bits, and where the engine keeps them as doubles. */
function isInteger(value: SqlValue): value is number {
  return typeof value === "number" && Number.isSafeInteger(value);
}

function widen(value: SqlValue): SqlValue {
  return isInteger(value) ? BigInt(value) : value;
}
