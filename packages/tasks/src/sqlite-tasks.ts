import type { SqliteTasksOptions } from "./options.ts";
import type { TaskBackend } from "./store.ts";
import { sqliteBackend } from "./stores/sqlite/index.ts";

/**
 * The embedded task store: one file that many processes share. Nothing is opened before the first method.
 *
 * @example
 * await using backend = sqliteTasks({ path: ".toolhaft/tasks.db" });
 * const posted = await backend.queue.post([task]);
 */
export function sqliteTasks(options: SqliteTasksOptions = {}): TaskBackend {
  return sqliteBackend(options);
}
