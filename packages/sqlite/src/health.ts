import { randomUUID } from "node:crypto";
import type { Database } from "./database.ts";
import type { Connection } from "./driver.ts";
import { isBusy } from "./faults.ts";

const periodMs = 7 * 24 * 3_600_000;

/** The first problem `quick_check` finds, or undefined. @see https://sqlite.org/pragma.html#pragma_quick_check */
export function quickCheck(connection: Connection): string | undefined {
  const row = connection.prepare("PRAGMA quick_check(1)").get();
  const answer = typeof row === "object" && row !== null ? String(Object.values(row)[0]) : "no answer";
  return answer === "ok" ? undefined : answer.replace(/\s+/g, " ");
}

/** Whether the file is to be checked now: a writer died without closing it, or the last check is a week old. */
export function checkIsDue(db: Database, now: number): boolean {
  const last = db.get<{ value: number }>("SELECT value FROM toolhaft_meta WHERE key = 'checked_at'");
  if (last !== undefined && now - last.value > periodMs) return true;
  return db
    .all<{ value: number }>("SELECT value FROM toolhaft_meta WHERE key LIKE 'writer:%'")
    .some((writer) => !isAlive(writer.value));
}

/** Notes a passed check and forgets the writers that died; called inside a write. */
export function noteChecked(db: Database, now: number): void {
  db.run(
    "INSERT INTO toolhaft_meta(key, value) VALUES('checked_at', ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value",
    [now],
  );
  for (const writer of db.all<{ key: string; value: number }>(
    "SELECT key, value FROM toolhaft_meta WHERE key LIKE 'writer:%'",
  )) {
    if (!isAlive(writer.value)) db.run("DELETE FROM toolhaft_meta WHERE key = ?", [writer.key]);
  }
}

/** A row per open writer: one that is left by a dead process tells of an unclean end. */
export function writerMark(): { set(db: Database): void; clear(connection: Connection): void } {
  const key = `writer:${randomUUID()}`;
  return {
    set: (db) => void db.run("INSERT OR IGNORE INTO toolhaft_meta(key, value) VALUES(?, ?)", [key, process.pid]),
    clear(connection) {
      try {
        connection.prepare("DELETE FROM toolhaft_meta WHERE key = ?").run([key]);
      } catch (error) {
        // Somebody else writes: the row then costs the next opener one check, which is better than to wait at the end.
        if (!isBusy(error)) throw error;
      }
    },
  };
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
