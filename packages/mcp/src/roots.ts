import type { StandardSchemaV1 } from "@modelcontextprotocol/server";

/**
 * The URIs of a `roots/list` answer, whatever else it holds. The SDKs' own schemas refuse the whole answer when a single
 * root is no `file:` URI, and the good ones would be lost with it.
 */
export function rootUris(result: unknown): string[] {
  const roots = isObject(result) && Array.isArray(result.roots) ? result.roots : [];
  return roots.flatMap((root) => (isObject(root) && typeof root.uri === "string" ? [root.uri] : []));
}

/** {@link rootUris} as the result schema that the v2 SDK takes. */
export const rootsAnswer: StandardSchemaV1<unknown, string[]> = {
  "~standard": {
    version: 1,
    vendor: "toolhaft",
    validate: (value: unknown) => ({ value: rootUris(value) }),
  },
};

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
