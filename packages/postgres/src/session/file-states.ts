import { createHash } from "node:crypto";
import { deflateSync, inflateSync } from "node:zlib";
import { ToolError } from "@toolhaft/core";
import type { Changes } from "@toolhaft/session";
import { changesFrom } from "@toolhaft/session/adapter";
import type { Sql } from "../database.ts";
import { messagesOfPath, pathValues, type Stretch } from "./path.ts";

/** States of files, in the order of the messages they belong to, up to a number. */
export async function changesOf(sql: Sql, path: readonly Stretch[], upTo: number): Promise<Changes> {
  const rows = await sql.all<{ message: string; path: string; before: string | null; after: string | null }>(
    `SELECT m.id AS message, c.path, c.before, c.after FROM ${messagesOfPath} JOIN @file_changes c ON c.message = m.row
     WHERE path.base + m.seq <= :upTo ORDER BY path.base + m.seq, c.n`,
    { ...pathValues(path), upTo },
  );
  const digests = [...new Set(rows.flatMap(({ before, after }) => [before, after].filter((one) => one !== null)))];
  const blobs = await sql.all<{ sha256: string; bytes: Uint8Array }>(
    "SELECT sha256, bytes FROM @blobs WHERE sha256 = ANY(?::text[])",
    [digests],
  );
  const bytesOf = new Map(blobs.map(({ sha256, bytes }) => [sha256, inflateSync(bytes)]));
  const stateOf = (sha256: string | null): Uint8Array | null => {
    if (sha256 === null) return null;
    const bytes = bytesOf.get(sha256);
    if (bytes === undefined) throw new ToolError("internal", "a recorded file state is missing from the store");
    return bytes;
  };
  return changesFrom(rows.map((row) => ({ ...row, before: stateOf(row.before), after: stateOf(row.after) })));
}

export interface FileState {
  sha256: string;
  deflated: Uint8Array;
}

/** Outside of a transaction: to press bytes takes time. */
export function pressed(bytes: Uint8Array | null): FileState | null {
  if (bytes === null) return null;
  return { sha256: createHash("sha256").update(bytes).digest("hex"), deflated: deflateSync(bytes) };
}

/** Kept once, however often a file had that state. */
export async function keepStates(sql: Sql, states: readonly (FileState | null)[]): Promise<void> {
  const sorted = states.filter((state) => state !== null).sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  for (const { sha256, deflated } of sorted) {
    await sql.run("INSERT INTO @blobs(sha256, bytes) VALUES(?, ?) ON CONFLICT DO NOTHING", [sha256, deflated]);
  }
}
