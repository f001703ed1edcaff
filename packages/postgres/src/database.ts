import { ToolError } from "@toolhaft/core";
import type { Pool, PoolClient, PoolConfig } from "pg";
import { isRepeatable, isTransient, toToolError } from "./errors.ts";
import { type Migration, migrate } from "./migrate.ts";
import { type Compiled, compiler } from "./sql.ts";

export type SqlValue = string | number | boolean | null | Uint8Array | readonly unknown[];
/** In the order of the `?`, or by the name behind a `:`. */
export type SqlValues = readonly SqlValue[] | Readonly<Record<string, SqlValue>>;

/** What runs statements: the pool, or one transaction. `?` marks values, `@name` a table of the schema. */
export interface Sql {
  get<T>(sql: string, values?: SqlValues): Promise<T | undefined>;
  all<T>(sql: string, values?: SqlValues): Promise<T[]>;
  run(sql: string, values?: SqlValues): Promise<{ changes: number }>;
}

export interface Transaction extends Sql {
  /** Milliseconds by the server's clock: of the beginning, and of the last row that was waited for. */
  now: number;
}

/** How a store finds its server. Give a `connectionString` or a `pool` of your own. */
export interface PostgresOptions {
  /** `postgres://user:password@host:5432/database?sslmode=verify-full` */
  connectionString?: string;
  /** A `pg` pool of the host; it stays the host's to end. */
  pool?: Pool;
  /** @default "toolhaft" */
  schema?: string;
  /** Most connections of an own pool, without the one that listens. @default 10 */
  max?: number;
  /** Milliseconds. @default 10_000 */
  statementTimeoutMs?: number;
  /** Milliseconds until a connection must stand. @default 5_000 */
  connectTimeoutMs?: number;
  /** TLS as `pg` takes it; `sslmode` in the connection string serves as well. */
  ssl?: PoolConfig["ssl"];
}

export interface PostgresDatabase extends Sql {
  readonly schema: string;
  /** One transaction; begun again where the server asks for it, or where the connection was lost. */
  transaction<T>(job: (sql: Transaction) => Promise<T>): Promise<T>;
  /** A connection for good, with what `pg` says on it; given back by `release`. */
  connection(): Promise<PoolClient>;
  close(): Promise<void>;
}

const attempts = 5;
const idleInTransactionMs = 10_000;

/** Opened by the first statement; migrated then, and anew after a failure. */
export function postgresDatabase(
  options: PostgresOptions,
  family: string,
  migrations: readonly Migration[],
): PostgresDatabase {
  const schema = options.schema ?? "toolhaft";
  checkOptions(options, schema);
  const compile = compiler(schema);
  const statementMs = options.statementTimeoutMs ?? 10_000;
  let opening: Promise<Pool> | undefined;
  let closed = false;
  /** Named statements are planned once per connection; a pooler in transaction mode does not know them. */
  let named = true;

  return {
    schema,
    get: async <T>(sql: string, values?: SqlValues) => (await direct<T>(sql, values)).rows[0],
    all: async <T>(sql: string, values?: SqlValues) => (await direct<T>(sql, values)).rows,
    run: async (sql, values) => ({ changes: (await direct(sql, values)).changes }),
    transaction: (job) => repeated(async () => transact(await pool(), job)),
    connection: async () => (await pool()).connect(),
    async close() {
      if (closed) return;
      closed = true;
      const found = await opening?.catch(() => undefined);
      if (options.pool === undefined) await found?.end();
    },
  };

  function direct<T>(sql: string, values: SqlValues = []): Promise<Rows<T>> {
    return repeated(async () => query<T>(await pool(), compile(sql), values));
  }

  async function query<T>(on: Pool | PoolClient, sql: Compiled, values: SqlValues): Promise<Rows<T>> {
    const answer = await on.query({
      text: sql.text,
      values: listed(sql, values).map(sendable),
      types,
      ...(named && { name: sql.name }),
    });
    return { rows: answer.rows as T[], changes: answer.rowCount ?? 0 };
  }

  async function transact<T>(from: Pool, job: (sql: Transaction) => Promise<T>): Promise<T> {
    const client = await from.connect();
    // What broke between two statements decides whether this connection is given back.
    let broken: Error | undefined;
    const onError = (error: Error): void => {
      broken = error;
    };
    client.on("error", onError);
    try {
      const begun = (await client.query({
        text: compile("BEGIN; SELECT @clock_ms() AS now").text,
        types,
      })) as unknown as { rows: { now: number }[] }[];
      const sql: Transaction = {
        now: begun[1]?.rows[0]?.now ?? 0,
        get: async <R>(text: string, values: SqlValues = []) => (await query<R>(client, compile(text), values)).rows[0],
        all: async <R>(text: string, values: SqlValues = []) => (await query<R>(client, compile(text), values)).rows,
        run: async (text, values = []) => ({ changes: (await query(client, compile(text), values)).changes }),
      };
      const answer = await job(sql);
      await client.query("COMMIT");
      client.off("error", onError);
      client.release();
      return answer;
    } catch (error) {
      const lost = broken ?? (isTransient(error) ? error : undefined);
      const undone = lost === undefined && (await client.query("ROLLBACK").then(yes, no));
      client.off("error", onError);
      client.release(!undone);
      throw error;
    }
  }

  async function repeated<T>(job: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await job();
      } catch (error) {
        if (isUnprepared(error) && named) {
          named = false;
          continue;
        }
        if (attempt >= attempts || closed || !isRepeatable(error)) throw toToolError(error, options, schema);
        await pause(Math.random() * 20 * 2 ** attempt);
      }
    }
  }

  function pool(): Promise<Pool> {
    if (closed) {
      throw new ToolError("unavailable", `the ${family} store on PostgreSQL is closed`, {
        hint: "make a new family or store",
      });
    }
    opening ??= open();
    return opening;
  }

  function open(): Promise<Pool> {
    const opened = makePool().then(async (made) => {
      try {
        await migrate(made, schema, family, migrations);
      } catch (error) {
        if (options.pool === undefined) await made.end().catch(() => undefined);
        throw error;
      }
      return made;
    });
    opened.catch(() => {
      // The next call tries again: what stood in the way may be gone.
      if (opening === opened) opening = undefined;
    });
    return opened;
  }

  async function makePool(): Promise<Pool> {
    if (options.pool !== undefined) return outliving(options.pool);
    const { default: pg } = await import("pg");
    const made = new pg.Pool({
      connectionString: options.connectionString,
      ...(options.ssl !== undefined && { ssl: options.ssl }),
      max: options.max ?? 10,
      keepAlive: true,
      connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
      idleTimeoutMillis: 30_000,
      allowExitOnIdle: true,
      application_name: "toolhaft",
      statement_timeout: statementMs,
      idle_in_transaction_session_timeout: idleInTransactionMs,
      // A connection that swallows what is sent never answers: this side gives up by itself.
      query_timeout: statementMs + 2_000,
    });
    // Without a listener a dropped idle connection ends the process; the next call finds out by itself.
    made.on("error", ignore);
    return outliving(made);
  }
}

/** A taken connection that breaks between two statements would end the process, too: the next statement says so. */
function outliving(pool: Pool): Pool {
  if (!pool.listeners("acquire").includes(ignoreErrors)) pool.on("acquire", ignoreErrors);
  return pool;
}

function ignoreErrors(client: PoolClient): void {
  if (!client.listeners("error").includes(ignore)) client.on("error", ignore);
}

function ignore(): void {}

interface Rows<T> {
  rows: T[];
  changes: number;
}

/** Every number is a count, a time or an amount, and below 2^53. */
const types = {
  getTypeParser(oid: number, format?: string): (value: string) => unknown {
    if (format === "binary") return (value) => value;
    if (oid === 20 || oid === 21 || oid === 23 || oid === 26 || oid === 700 || oid === 701 || oid === 1700)
      return Number;
    if (oid === 16) return (value) => value === "t";
    if (oid === 17) return (value) => Buffer.from(value.slice(2), "hex");
    if (oid === 1009) return textArray;
    return (value) => value;
  },
};

/** `{a,"b c",NULL}` as PostgreSQL prints an array of texts. */
function textArray(value: string): (string | null)[] {
  const items: (string | null)[] = [];
  for (const match of value.slice(1, -1).matchAll(/"((?:[^"\\]|\\.)*)"|([^,]+)/gs)) {
    if (match[1] !== undefined) items.push(match[1].replace(/\\(.)/gs, "$1"));
    else items.push(match[2] === "NULL" ? null : (match[2] ?? ""));
  }
  return items;
}

function listed({ names }: Compiled, values: SqlValues): readonly SqlValue[] {
  if (isList(values)) return values;
  return names.map((name) => {
    const value = values[name];
    if (value === undefined) throw new Error(`the statement has no value for :${name}`);
    return value;
  });
}

function isList(values: SqlValues): values is readonly SqlValue[] {
  return Array.isArray(values);
}

/** PostgreSQL's texts hold no NUL. */
function sendable(value: SqlValue): unknown {
  if (value instanceof Uint8Array && !Buffer.isBuffer(value)) return Buffer.from(value);
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\ufffd") : value;
}

const yes = (): boolean => true;
const no = (): boolean => false;

/** A prepared statement that is not there (any more), or there already: a pooler stands in between. */
function isUnprepared(error: unknown): boolean {
  const code = (error as { code?: unknown }).code;
  return code === "26000" || code === "42P05";
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function checkOptions(options: PostgresOptions, schema: string): void {
  const known = ["connectionString", "pool", "schema", "max", "statementTimeoutMs", "connectTimeoutMs", "ssl"];
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw new TypeError(`postgres: unknown option ${key}; there are ${known.join(", ")}`);
  }
  if ((options.connectionString === undefined) === (options.pool === undefined)) {
    throw new TypeError("postgres: give either connectionString or pool");
  }
  if (options.connectionString !== undefined && !/^postgres(ql)?:\/\//.test(options.connectionString)) {
    throw new TypeError("postgres: connectionString: write postgres://user:password@host:5432/database");
  }
  if (!/^[a-z_][a-z0-9_]{0,47}$/.test(schema)) {
    throw new TypeError("postgres: schema: lower-case letters, digits and _, at most 48, not beginning with a digit");
  }
  for (const key of ["max", "statementTimeoutMs", "connectTimeoutMs"] as const) {
    const value = options[key];
    if (value !== undefined && !(Number.isInteger(value) && value > 0)) {
      throw new TypeError(`postgres: ${key}: a whole number above 0`);
    }
  }
}
