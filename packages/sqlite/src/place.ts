import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ToolError } from "@toolhaft/core";
import { placeError } from "./faults.ts";

/** What the first 100 bytes of a file tell without opening it as a database. */
export interface Header {
  isSqlite: boolean;
  empty: boolean;
  userVersion: number;
  applicationId: number;
}

/**
 * Makes the folder and the file (mode 0600) where they are missing and gives the real path.
 *
 * @throws ToolError `unavailable` when the place cannot hold a database, `not_found` when a read-only one is missing
 */
export function preparePlace(path: string, readOnly: boolean): { path: string; created: boolean } {
  if (path === "" || path.includes("\0") || path === ":memory:") {
    throw new ToolError("invalid_input", "the path of a database is the name of a file on disk", {
      hint: "give a path such as .toolhaft/memory.db",
    });
  }
  const wanted = resolve(path);
  try {
    const found = statSync(wanted, { throwIfNoEntry: false });
    if (found) {
      refuseOtherKinds(wanted, found.isDirectory(), found.isFile());
      return { path: realpathSync(wanted), created: false };
    }
    if (readOnly) throw new ToolError("not_found", `there is no database at ${wanted}`);
    makeFolder(dirname(wanted));
    const real = join(realpathSync(dirname(wanted)), basename(wanted));
    closeSync(openSync(real, "a", 0o600));
    chmodSync(real, 0o600);
    return { path: real, created: true };
  } catch (error) {
    throw placeError(error, wanted) ?? error;
  }
}

function refuseOtherKinds(path: string, folder: boolean, file: boolean): void {
  if (file) return;
  throw new ToolError(
    "unavailable",
    `${path} is ${folder ? "a folder" : "not a regular file"}, so it cannot be a database`,
    {
      hint: "choose the path of a file",
      details: { path },
    },
  );
}

function makeFolder(folder: string): void {
  const made = makeMissing(folder);
  const ignore = join(folder, ".gitignore");
  if ((made || basename(folder) === ".toolhaft") && !existsSync(ignore)) writeFileSync(ignore, "*\n");
}

/** Parent by parent: Node's own recursive mkdir never ends where a file system refuses folders (/proc). */
function makeMissing(folder: string): boolean {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
  if (dirname(folder) !== folder) makeMissing(dirname(folder));
  try {
    mkdirSync(folder);
    return true;
  } catch (error) {
    // Another process may have made it just now.
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return false;
    throw error;
  }
}

/** @see https://sqlite.org/fileformat.html#the_database_header */
export function readHeader(path: string): Header {
  const bytes = Buffer.alloc(100);
  const file = openSync(path, "r");
  try {
    const length = readSync(file, bytes, 0, 100, 0);
    return {
      empty: length === 0,
      isSqlite: length === 100 && bytes.toString("latin1", 0, 16) === "SQLite format 3\0",
      userVersion: bytes.readInt32BE(60),
      applicationId: bytes.readInt32BE(68),
    };
  } finally {
    closeSync(file);
  }
}

/** Bytes of the write-ahead log beside a database: 0 after a clean end. */
export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Identity of the file behind a path; undefined when it is gone. */
export function fileIdentity(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}
