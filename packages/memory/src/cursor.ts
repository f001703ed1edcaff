import { createHash } from "node:crypto";
import { invalid } from "./checks.ts";

/** An opaque cursor: a position that fits one query only. */
export function encodeCursor(query: unknown, position: readonly (string | number)[]): string {
  const text = JSON.stringify(position);
  return Buffer.from(`${seal(query, text)}${text}`).toString("base64url");
}

/** @throws ToolError `invalid_input` when the cursor was cut, made up or belongs to another query */
export function decodeCursor(query: unknown, cursor: string): (string | number)[] {
  const text = Buffer.from(cursor, "base64url").toString();
  const body = text.slice(12);
  if (text.slice(0, 12) !== seal(query, body)) {
    throw invalid(
      "cursor does not belong to this query",
      "give the cursor as it was printed, with the same parameters, or start without one",
    );
  }
  return JSON.parse(body) as (string | number)[];
}

function seal(query: unknown, position: string): string {
  return createHash("sha256")
    .update(`${JSON.stringify(query)}\n${position}`)
    .digest("base64url")
    .slice(0, 12);
}
