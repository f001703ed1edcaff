import { ToolError } from "@toolhaft/core";
import type { Connection } from "./driver.ts";
import { isBusy } from "./faults.ts";
import { waitForLock } from "./lock.ts";

/**
 * Turns the write-ahead log on. SQLite does not wait for other openers here, whatever its busy timeout, so we do.
 *
 * @throws ToolError `unsupported` where the file system has no shared memory (network drives)
 */
export async function switchToWal(connection: Connection, path: string, timeoutMs: number): Promise<void> {
  if (attempt()) return;
  await waitForLock(attempt, { path, timeoutMs, signal: undefined });

  function attempt(): boolean {
    let mode: unknown;
    try {
      const row = connection.prepare("PRAGMA journal_mode=WAL").get();
      mode = typeof row === "object" && row !== null ? Object.values(row)[0] : undefined;
    } catch (error) {
      if (isBusy(error)) return false;
      throw error;
    }
    if (mode === "wal") return true;
    throw new ToolError(
      "unsupported",
      `${path} is on a file system without shared memory, so SQLite's write-ahead log does not work there`,
      {
        hint: "choose a path on a local disk; nothing was written",
        details: { path },
      },
    );
  }
}
