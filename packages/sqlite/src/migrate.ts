import { readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { saveBackup } from "./backup.ts";
import type { Database, Migration } from "./database.ts";
import type { Connection, Driver } from "./driver.ts";
import { applicationId, checkIdentity, number } from "./identity.ts";

const keptBackups = 2;

/** @throws TypeError when the versions are not 1, 2, 3 … */
export function newestVersion(migrations: readonly Migration[]): number {
  migrations.forEach((migration, index) => {
    if (migration.version !== index + 1) {
      throw new TypeError(`migration "${migration.name}" has version ${migration.version}; ${index + 1} comes next`);
    }
  });
  return migrations.length;
}

export interface Upgrade {
  db: Database;
  connection: Connection;
  driver: Driver;
  path: string;
  family: string;
  migrations: readonly Migration[];
  now: number;
}

/**
 * Brings a file to the newest schema. The caller holds `BEGIN IMMEDIATE`, so of many openers one migrates and the
 * others find the work done; foreign keys are off, as SQLite asks for schema changes.
 *
 * @see https://sqlite.org/lang_altertable.html#otheralter
 */
export async function upgrade({ db, connection, driver, path, family, migrations, now }: Upgrade): Promise<void> {
  const state = checkIdentity(connection, path, family, migrations.length);
  const from = number(connection, "PRAGMA user_version");
  if (state === "ours" && from === migrations.length) return;
  if (state === "new") {
    connection.exec(`PRAGMA application_id = ${applicationId}`);
    connection.exec("CREATE TABLE toolhaft_meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID");
    db.run("INSERT INTO toolhaft_meta(key, value) VALUES('family', ?), ('checked_at', ?)", [family, now]);
  } else {
    await keepBefore(driver, path, migrations.length);
  }
  for (const migration of migrations.slice(from)) apply(db, connection, migration);
  const dangling = connection.prepare("PRAGMA foreign_key_check").all();
  if (dangling.length > 0) throw failed(migrations.at(-1), `${dangling.length} rows point to nothing`);
  connection.exec(`PRAGMA user_version = ${migrations.length}`);
}

function apply(db: Database, connection: Connection, migration: Migration): void {
  try {
    if (typeof migration.up === "string") connection.exec(migration.up);
    else if (isThenable(migration.up(db))) throw new TypeError("up must not be asynchronous");
  } catch (error) {
    throw failed(migration, error instanceof Error ? error.message : String(error), error);
  }
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && "then" in value;
}

function failed(migration: Migration | undefined, problem: string, cause?: unknown): ToolError {
  return new ToolError("internal", `migration ${migration?.version} "${migration?.name}" failed: ${problem}`, {
    hint: "nothing was changed; report this with the message",
    cause,
  });
}

/** The writer holds the lock meanwhile, so a second connection copies exactly the state before the upgrade. */
async function keepBefore(driver: Driver, path: string, version: number): Promise<void> {
  const target = `${path}.before-v${version}`;
  rmSync(target, { force: true });
  const reader = driver.open(path, { readOnly: true });
  try {
    await saveBackup(reader, target);
  } finally {
    reader.close();
  }
  const prefix = `${basename(path)}.before-v`;
  const versions = readdirSync(dirname(path))
    .filter((name) => name.startsWith(prefix) && /^\d+$/.test(name.slice(prefix.length)))
    .map((name) => Number(name.slice(prefix.length)))
    .sort((a, b) => b - a);
  for (const old of versions.slice(keptBackups)) rmSync(join(dirname(path), `${prefix}${old}`), { force: true });
}
