import { ToolError } from "@toolhaft/core";
import type { Pool, PoolClient } from "pg";
import { compiler } from "./sql.ts";

export interface Migration {
  version: number;
  /** Statements; `@name` is a table of the schema. */
  up: string;
  /** What may fail without harm, like an extension: the store works without it. */
  optional?: readonly string[];
}

/** The oldest server with everything that is used here. */
const oldestServer = 13;

/** @throws ToolError `unsupported` for a server that is too old or read-only, or a schema newer than this code */
export async function migrate(
  pool: Pool,
  schema: string,
  family: string,
  migrations: readonly Migration[],
): Promise<void> {
  const client = await pool.connect();
  let broken = true;
  try {
    await checkServer(client);
    if ((await versionOf(client, schema, family)) !== latest(migrations)) {
      await client.query("BEGIN");
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`toolhaft migrates ${schema}`]);
      await bringUp(client, schema, family, migrations);
      await client.query("COMMIT");
    }
    broken = false;
  } catch (error) {
    broken = !(await client.query("ROLLBACK").then(
      () => true,
      () => false,
    ));
    throw error;
  } finally {
    client.release(broken);
  }
}

async function checkServer(client: PoolClient): Promise<void> {
  const { rows } = await client.query(
    "SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS name, pg_is_in_recovery() AS replica, current_setting('transaction_read_only') AS readonly",
  );
  const [server] = rows as { version: number; name: string; replica: boolean; readonly: string }[];
  if (server === undefined) throw new Error("the server did not say what it is");
  if (server.version < oldestServer * 10_000) {
    throw new ToolError("unsupported", `PostgreSQL ${server.name} is too old: ${oldestServer} or newer is needed`, {
      hint: "upgrade the server; nothing was changed on it",
    });
  }
  if (server.replica || server.readonly === "on") {
    throw new ToolError("unsupported", "this PostgreSQL server is read-only (a replica, or set so)", {
      hint: "give the address of the primary server; nothing was changed",
    });
  }
}

/** Undefined where nothing was migrated yet. */
async function versionOf(client: PoolClient, schema: string, family: string): Promise<number | undefined> {
  const { rows } = await client.query("SELECT to_regclass($1) IS NOT NULL AS there", [`"${schema}".migration`]);
  if (rows[0]?.there !== true) return undefined;
  const found = await client.query(`SELECT max(version) AS version FROM "${schema}".migration WHERE family = $1`, [
    family,
  ]);
  return found.rows[0]?.version ?? undefined;
}

async function bringUp(
  client: PoolClient,
  schema: string,
  family: string,
  migrations: readonly Migration[],
): Promise<void> {
  const compile = compiler(schema);
  const { rows } = await client.query("SELECT to_regnamespace($1) IS NOT NULL AS there", [`"${schema}"`]);
  if (rows[0]?.there !== true) await client.query(`CREATE SCHEMA "${schema}"`);
  await client.query(`CREATE TABLE IF NOT EXISTS "${schema}".migration(
    family text NOT NULL, version int NOT NULL, at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY(family, version))`);
  const there = await versionOf(client, schema, family);
  if (there !== undefined && there > latest(migrations)) {
    throw new ToolError(
      "unsupported",
      `schema "${schema}" has version ${there} of ${family}, this code knows ${latest(migrations)}`,
      {
        hint: "upgrade @toolhaft/postgres here; nothing was changed",
      },
    );
  }
  // The clock that decides leases: the server's own, in milliseconds.
  const clock = await client.query("SELECT to_regprocedure($1) IS NOT NULL AS there", [`"${schema}".clock_ms()`]);
  if (clock.rows[0]?.there !== true) {
    await client.query(`CREATE FUNCTION "${schema}".clock_ms() RETURNS bigint LANGUAGE sql VOLATILE
      AS $$SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint$$`);
  }
  for (const { version, up, optional = [] } of migrations) {
    if (version <= (there ?? 0)) continue;
    await client.query(compile(up).text);
    for (const statement of optional) await attempt(client, compile(statement).text);
    await client.query(`INSERT INTO "${schema}".migration(family, version) VALUES($1, $2)`, [family, version]);
  }
}

async function attempt(client: PoolClient, statement: string): Promise<void> {
  await client.query("SAVEPOINT optional");
  try {
    await client.query(statement);
    await client.query("RELEASE SAVEPOINT optional");
  } catch {
    // Not on this server, or not for this user.
    await client.query("ROLLBACK TO SAVEPOINT optional");
  }
}

function latest(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? 0;
}
