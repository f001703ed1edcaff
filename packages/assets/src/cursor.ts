import { createHash } from "node:crypto";
import { ToolError } from "@toolhaft/core";

/** An opaque place in the answer to one question of one catalog version. */
export function encodeCursor(version: string, question: unknown, offset: number): string {
  return Buffer.from(`${version}.${keyOf(question)}.${offset}`).toString("base64url");
}

/** @throws ToolError `invalid_input` when the catalog changed, or the cursor is of another question or none */
export function decodeCursor(version: string, question: unknown, cursor: string | undefined): number {
  if (cursor === undefined) return 0;
  const parts = /^([0-9a-f]{12})\.([0-9a-f]{12})\.(\d{1,9})$/.exec(Buffer.from(cursor, "base64url").toString("latin1"));
  const [, at, key, offset] = parts ?? [];
  if (at === undefined || key !== keyOf(question)) {
    throw new ToolError("invalid_input", "cursor: it does not belong to this question", {
      hint: "give the cursor as it was printed, with the same parameters, or leave it out",
    });
  }
  if (at !== version) {
    throw new ToolError("invalid_input", "cursor: catalog changed, search again", {
      hint: "repeat the call without cursor",
    });
  }
  return Number(offset);
}

function keyOf(question: unknown): string {
  return createHash("sha256").update(JSON.stringify(question)).digest("hex").slice(0, 12);
}

/** A page of a list and the cursor of the next one. */
export function pageOf<T>(
  items: readonly T[],
  limit: number,
  at: { version: string; question: unknown; cursor: string | undefined },
): { page: readonly T[]; nextCursor?: string } {
  const offset = decodeCursor(at.version, at.question, at.cursor);
  const end = offset + limit;
  const page = items.slice(offset, end);
  if (end >= items.length) return { page };
  return { page, nextCursor: encodeCursor(at.version, at.question, end) };
}
