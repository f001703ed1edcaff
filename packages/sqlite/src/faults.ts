import { ToolError } from "@toolhaft/core";

/** Extended result codes that only come with a number from `node:sqlite`. */
const names: Readonly<Record<number, string>> = {
  1: "SQLITE_ERROR",
  3: "SQLITE_PERM",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  8: "SQLITE_READONLY",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  19: "SQLITE_CONSTRAINT",
  26: "SQLITE_NOTADB",
  261: "SQLITE_BUSY_RECOVERY",
  267: "SQLITE_CORRUPT_VTAB",
  275: "SQLITE_CONSTRAINT_CHECK",
  517: "SQLITE_BUSY_SNAPSHOT",
  787: "SQLITE_CONSTRAINT_FOREIGNKEY",
  1299: "SQLITE_CONSTRAINT_NOTNULL",
  1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
  2067: "SQLITE_CONSTRAINT_UNIQUE",
};

/**
 * SQLite's extended result code of an error, the same from both drivers: `"SQLITE_CONSTRAINT_UNIQUE"`.
 * Undefined when the error is not SQLite's.
 *
 * @see https://sqlite.org/rescode.html
 */
export function sqliteCode(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if ("errcode" in error && typeof error.errcode === "number") {
    return names[error.errcode] ?? names[error.errcode & 0xff] ?? "SQLITE_ERROR";
  }
  return "code" in error && typeof error.code === "string" && error.code.startsWith("SQLITE_") ? error.code : undefined;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith("SQLITE_BUSY") || code.startsWith("SQLITE_LOCKED"));
}

/** Damage of the file itself. That of a virtual table (FTS5) is left to its owner, who can make it anew. */
export function isCorrupt(error: unknown): boolean {
  const code = sqliteCode(error);
  if (code === undefined || code === "SQLITE_CORRUPT_VTAB") return false;
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB";
}

export function busyError(path: string, waitedMs: number, cause: unknown): ToolError {
  return new ToolError("timeout", `another process held the write lock of ${path} for ${Math.round(waitedMs)} ms`, {
    hint: "try again",
    details: { path },
    cause,
  });
}

/** The named error for a fault of the place (disk, permission), or undefined for one of the statement. */
export function placeError(error: unknown, path: string): ToolError | undefined {
  const code = sqliteCode(error) ?? systemCode(error);
  if (code === undefined) return undefined;
  if (code === "SQLITE_FULL" || code === "ENOSPC" || code === "EDQUOT") {
    return unavailable(
      `the disk is full: nothing was written to ${path}`,
      "free space on that disk, then repeat the call",
    );
  }
  if (code.startsWith("SQLITE_READONLY") || code === "EROFS") {
    return unavailable(
      `${path} cannot be written: it is read-only`,
      "make the file and its folder writable, or choose another path",
    );
  }
  if (code.startsWith("SQLITE_CANTOPEN") || code === "SQLITE_PERM" || code === "EACCES" || code === "EPERM") {
    return unavailable(
      `${path} cannot be opened`,
      "check that its folder exists and that this user may read and write it",
    );
  }
  if (code.startsWith("SQLITE_IOERR") || code === "EIO") {
    return unavailable(
      `reading or writing ${path} failed (${code})`,
      "check the disk and the free space, then repeat the call",
    );
  }
  if (code === "ENOTDIR" || code === "EEXIST" || code === "ELOOP" || code === "ENAMETOOLONG" || code === "ENOENT") {
    return unavailable(`${path} cannot be opened (${code})`, "choose a path whose parents are folders");
  }
  return undefined;

  function unavailable(message: string, hint: string): ToolError {
    return new ToolError("unavailable", message, { hint, details: { path }, cause: error });
  }
}

function systemCode(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
