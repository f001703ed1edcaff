/** The keyset of a list of sessions: what comes after this one, newest update first, ties by id. */
export function listCursor(updatedAt: string, id: string): string {
  return Buffer.from(JSON.stringify([updatedAt, id])).toString("base64url");
}

/** Undefined for a cursor that is not one of ours. */
export function parseListCursor(cursor: string): { updated: string; id: string } | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (!Array.isArray(value) || typeof value[0] !== "string" || typeof value[1] !== "string") return undefined;
    return { updated: value[0], id: value[1] };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return undefined;
  }
}
