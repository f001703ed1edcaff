import type { JsonSchema } from "./json-schema.ts";

/** What one tool may cost in a listing, in estimated tokens. */
export const defaultMaxSchemaTokens = 400;

/** UTF-8 bytes for one token of JSON Schema text, measured on o200k. */
const bytesPerToken = 4.8;

/** `ceil(UTF-8 bytes of {name, description, schema} / 4.8)`. */
export function schemaTokens(name: string, description: string, schema: JsonSchema): number {
  const text = JSON.stringify({ name, description, schema });
  return Math.ceil(new TextEncoder().encode(text).length / bytesPerToken);
}
