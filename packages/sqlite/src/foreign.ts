import type { Parameters } from "./database.ts";
import { loadDriver } from "./driver.ts";

/** Another program's database, read only. Nothing of it is checked, migrated or written. */
export interface ForeignDatabase {
  all<T>(sql: string, parameters?: Parameters): T[];
  get<T>(sql: string, parameters?: Parameters): T | undefined;
  close(): void;
}

/**
 * Opens a database that is not ours, for reading. SQLite makes `-wal` and `-shm` beside a WAL database that lacks them:
 * who must leave the folder as it is opens a copy.
 *
 * @throws what the driver throws when the file is none, locked or damaged
 */
export async function openForeign(path: string): Promise<ForeignDatabase> {
  const driver = await loadDriver();
  const connection = driver.open(path, { readOnly: true });
  try {
    connection.exec("PRAGMA busy_timeout = 2000; PRAGMA query_only = ON");
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    all: <T>(sql: string, parameters?: Parameters) => connection.prepare(sql).all(parameters) as T[],
    get: <T>(sql: string, parameters?: Parameters) => connection.prepare(sql).get(parameters) as T | undefined,
    close: () => connection.close(),
  };
}
