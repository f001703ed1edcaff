import { chmodSync, copyFileSync, readdirSync, renameSync, statSync, utimesSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, ToolError } from "@toolhaft/core";

const parts = ["", "-wal", "-shm"] as const;

/** Saves a damaged database beside itself and gives the error that names both; the original is left as it is. */
export function corruptError(path: string, problem: string, clock: Clock, cause?: unknown): ToolError {
  const copy = saveCopy(path, clock);
  return new ToolError("unavailable", `${path} is damaged: ${problem}. A copy was saved as ${copy}`, {
    hint: [
      `salvage: sqlite3 '${path}' .recover | sqlite3 '${path}.recovered'`,
      `start empty: mv '${path}' '${path}.old' && rm -f '${path}-wal' '${path}-shm'`,
    ].join("; "),
    details: { path, copy },
    cause,
  });
}

/** Moves a damaged cache out of the way so that an empty one can take its place. */
export function moveAside(path: string, clock: Clock): string {
  const aside = `${path}.corrupt-${stamp(clock)}`;
  for (const part of parts) {
    if (statSync(path + part, { throwIfNoEntry: false })) renameSync(path + part, aside + part);
  }
  return aside;
}

/** Whether this very state of the file was found damaged before. */
export function hasSavedCopy(path: string): boolean {
  return savedCopy(path) !== undefined;
}

function savedCopy(path: string): string | undefined {
  const found = statSync(path);
  const prefix = `${basename(path)}.corrupt-`;
  for (const name of readdirSync(dirname(path))) {
    if (!name.startsWith(prefix) || name.endsWith("-wal") || name.endsWith("-shm")) continue;
    const copy = statSync(join(dirname(path), name));
    if (copy.size === found.size && Math.abs(copy.mtimeMs - found.mtimeMs) < 2) return join(dirname(path), name);
  }
  return undefined;
}

/** One copy per state of the file: asking again and again must not fill the disk. */
function saveCopy(path: string, clock: Clock): string {
  const saved = savedCopy(path);
  if (saved) return saved;
  const found = statSync(path);
  const copy = `${path}.corrupt-${stamp(clock)}`;
  for (const part of parts) {
    if (!statSync(path + part, { throwIfNoEntry: false })) continue;
    copyFileSync(path + part, copy + part);
    chmodSync(copy + part, 0o600);
  }
  utimesSync(copy, found.atime, found.mtime);
  return copy;
}

function stamp(clock: Clock): string {
  return new Date(clock.now()).toISOString().replace(/[:.]/g, "-");
}
