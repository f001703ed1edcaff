import { ToolError } from "@toolhaft/core";
import type { Connection } from "./driver.ts";
import type { Header } from "./place.ts";

/** "THFT": marks the files of this package (`PRAGMA application_id`). */
export const applicationId = 0x54484654;

/** Refuses, from the header alone, a file that must not even be opened. */
export function refuseByHeader(path: string, header: Header, known: number): void {
  if (header.applicationId === applicationId) refuseNewer(path, header.userVersion, known);
  else if (header.applicationId !== 0) throw foreign(path, "another program");
}

/** Refuses a database of another program, another family or a newer version; nothing has been written yet. */
export function checkIdentity(connection: Connection, path: string, family: string, known: number): "new" | "ours" {
  let found = number(connection, "PRAGMA application_id");
  if (found === 0) {
    if (number(connection, "SELECT count(*) FROM sqlite_master") === 0) return "new";
    // Between the two looks another process may have made it: its tables and its mark come with one commit.
    found = number(connection, "PRAGMA application_id");
  }
  if (found !== applicationId) throw foreign(path, "another program");
  refuseNewer(path, number(connection, "PRAGMA user_version"), known);
  const owner = text(connection, "SELECT value FROM toolhaft_meta WHERE key = 'family'");
  if (owner !== family) throw foreign(path, `the family ${owner ?? "(none)"}`);
  return "ours";
}

function refuseNewer(path: string, version: number, known: number): void {
  if (version <= known) return;
  throw new ToolError("unsupported", `${path} was written by a newer version (${version}, this one knows ${known})`, {
    hint: "update the package that opens it, or choose another path",
    details: { path, version, known },
  });
}

/** A reader cannot bring a file up to date. */
export function refuseOlder(path: string, version: number, known: number): void {
  if (version === known) return;
  throw new ToolError("unsupported", `${path} has schema version ${version}, this one reads ${known}`, {
    hint: "open it once for writing to bring it up to date",
    details: { path, version, known },
  });
}

function foreign(path: string, owner: string): ToolError {
  return new ToolError("conflict", `${path} belongs to ${owner}; it was left untouched`, {
    hint: "choose another path",
    retryable: false,
    details: { path },
  });
}

export function number(connection: Connection, sql: string): number {
  return Number(first(connection, sql) ?? 0);
}

function text(connection: Connection, sql: string): string | undefined {
  const value = first(connection, sql);
  return typeof value === "string" ? value : undefined;
}

function first(connection: Connection, sql: string): unknown {
  const row = connection.prepare(sql).get();
  return typeof row === "object" && row !== null ? Object.values(row)[0] : undefined;
}
