import { ToolError } from "@toolhaft/core";

/** One cursor over several stores: where each of them goes on. Stores that are done are left out. */
export function mergeCursor(positions: ReadonlyMap<string, string>, kind: string): string {
  return Buffer.from(JSON.stringify([kind, ...positions])).toString("base64url");
}

/** @throws ToolError `invalid_input` for a cursor of another tool, another query, or no cursor at all */
export function splitCursor(cursor: string | undefined, kind: string): ReadonlyMap<string, string> | undefined {
  if (cursor === undefined) return undefined;
  const value = decoded(cursor);
  if (!Array.isArray(value) || value[0] !== kind) throw foreignCursor();
  return new Map(
    value.slice(1).map((pair: unknown) => {
      if (Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string") return [pair[0], pair[1]];
      throw foreignCursor();
    }),
  );
}

export function foreignCursor(): ToolError {
  return new ToolError("invalid_input", "cursor is not one of this call", {
    hint: "leave it out for the first page; then copy it from the reply, with the same other parameters",
  });
}

function decoded(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
