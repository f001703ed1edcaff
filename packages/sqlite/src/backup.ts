import { chmodSync, existsSync, renameSync, rmSync } from "node:fs";
import { ToolError } from "@toolhaft/core";
import type { Connection } from "./driver.ts";

/** Copies a database to a new file that appears whole or not at all. */
export async function saveBackup(connection: Connection, target: string): Promise<void> {
  if (existsSync(target)) {
    throw new ToolError("conflict", `${target} exists already`, {
      hint: "choose another name for the backup",
      retryable: false,
    });
  }
  const partial = `${target}.partial-${process.pid}`;
  try {
    await connection.backup(partial);
    chmodSync(partial, 0o600);
    renameSync(partial, target);
  } finally {
    for (const rest of [partial, `${partial}-wal`, `${partial}-shm`, `${partial}-journal`])
      rmSync(rest, { force: true });
  }
}
