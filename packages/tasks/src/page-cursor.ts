import { createHash } from "node:crypto";
import { ToolError } from "@toolhaft/core";
import type { TaskQuery } from "./store.ts";

/** A key that pages are sorted by: `sort_0`, `sort_1` … in the order of the keys. */
export interface SortKey {
  sql: string;
  down: boolean;
}

/** In SQL: what comes after a place in that order. */
export function afterCondition(keys: readonly SortKey[], at: readonly number[]): { sql: string; values: number[] } {
  const values: number[] = [];
  const steps = keys.map(({ down }, index) => {
    const same = keys.slice(0, index).map((_, earlier) => `sort_${earlier} = ?`);
    values.push(...at.slice(0, index), at[index] ?? 0);
    return [...same, `sort_${index} ${down ? "<" : ">"} ?`].join(" AND ");
  });
  return { sql: `(${steps.join(" OR ")})`, values };
}

/** An opaque place in one query; another query refuses it. */
export function encodeCursor(query: TaskQuery, position: readonly number[]): string {
  const text = JSON.stringify(position);
  return Buffer.from(`${sealOf(query, text)}${text}`).toString("base64url");
}

/** @throws ToolError `invalid_input` for the cursor of another query */
export function decodeCursor(query: TaskQuery, cursor: string, length: number): number[] {
  const text = Buffer.from(cursor, "base64url").toString();
  const body = text.slice(sealLength);
  if (text.slice(0, sealLength) !== sealOf(query, body)) {
    throw new ToolError("invalid_input", "cursor is not one of this query", {
      hint: "leave it out for the first page; then copy it from the reply, with the same other parameters",
    });
  }
  const position = JSON.parse(body) as number[];
  return position.slice(0, length);
}

const sealLength = 10;

function sealOf({ cursor: _cursor, limit: _limit, ...query }: TaskQuery, body: string): string {
  const sorted = Object.entries(query).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash("sha256")
    .update(`${JSON.stringify(sorted)}\n${body}`)
    .digest("base64url")
    .slice(0, sealLength);
}
