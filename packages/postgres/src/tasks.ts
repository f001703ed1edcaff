import type { TaskBackend } from "@toolhaft/tasks";
import type { PostgresOptions } from "./database.ts";
import { postgresBackend } from "./tasks/index.ts";

export type { PostgresOptions } from "./database.ts";

/**
 * The task store on PostgreSQL: rows, locks, notifications and clock are the server's. Nothing is opened before the
 * first method; that one makes or migrates the schema.
 *
 * @throws TypeError for options that cannot be
 * @example
 * await using backend = postgresTasks({ connectionString: "postgres://app@db.example/work" });
 * const tasks = createTasks({ store: backend });
 */
export function postgresTasks(options: PostgresOptions): TaskBackend {
  return postgresBackend(options);
}
