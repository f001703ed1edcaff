import type { SessionRecorder, SessionStore } from "@toolhaft/session";
import type { PostgresOptions } from "./database.ts";
import { sessionStore } from "./session/store.ts";

export type { PostgresOptions } from "./database.ts";

/**
 * Recorded sessions on PostgreSQL, for `createSessions({ store })`: any machine records, lists, searches and forks them.
 * Times that a message does not give are the server's.
 *
 * @throws TypeError for options that cannot be
 * @example
 * await using store = postgresSessionStore({ connectionString: "postgres://app@db.example/work" });
 * const session = await store.open({ directory: "/srv/app" });
 * await session.append({ id: "m1", role: "user", parts: [{ kind: "text", text: "Fix the parser" }] });
 */
export function postgresSessionStore(options: PostgresOptions): SessionStore & SessionRecorder {
  return sessionStore(options);
}
