import type { NetRequest } from "@toolhaft/net";
import type { z } from "zod";
import type { RawHit, SearchProvider, SearchQuery, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, malformed, parseJson } from "../answer.ts";

export interface KeyedOptions {
  /** @default the provider's environment variable */
  apiKey?: string;
  baseUrl?: string;
}

/** What sets one back end with a key apart from the others. */
export interface KeyedBackEnd<T> {
  name: string;
  variable: string;
  baseUrl: string;
  supports: SearchProvider["supports"];
  request(query: SearchQuery, key: string, base: string, now: number): NetRequest;
  schema: z.ZodType<T>;
  hits(answer: T): Promise<readonly RawHit[]> | readonly RawHit[];
}

export const keyMissing = (variable: string, name: string): SourceAnswer => ({
  status: "auth_required",
  message: `needs a key: set ${variable} or pass ${name}({ apiKey }) in createWeb({ search: { providers } })`,
});

/** A general search engine that wants a key and answers in JSON. The key goes into a header or the body, never into a URL or text. */
export function keyedProvider<T>(backEnd: KeyedBackEnd<T>, options: KeyedOptions): SearchProvider {
  const base = (options.baseUrl ?? backEnd.baseUrl).replace(/\/+$/, "");
  return {
    name: backEnd.name,
    general: true,
    supports: backEnd.supports,
    async search(query, scope) {
      const key = options.apiKey ?? process.env[backEnd.variable];
      if (key === undefined || key === "") return keyMissing(backEnd.variable, backEnd.name);
      const received = await askBackEnd(backEnd.request(query, key, base, scope.clock.now()), scope);
      if (isFailure(received)) return withoutKey(received, key);
      const json = parseJson(received);
      if (!("value" in json)) return json;
      const parsed = backEnd.schema.safeParse(json.value);
      if (!parsed.success) return malformed;
      const results = await backEnd.hits(parsed.data);
      return results.length === 0 ? { status: "empty", results: [] } : { status: "ok", results };
    },
  };
}

/** A back end may repeat the key in its complaint. */
function withoutKey<A extends { message: string }>(answer: A, key: string): A {
  return { ...answer, message: answer.message.replaceAll(key, "[key]") };
}

/** A date so long before now, as `YYYY-MM-DD`. */
export function dayBefore(since: NonNullable<SearchQuery["since"]>, now: number): string {
  const days = { day: 1, week: 7, month: 31, year: 366 }[since];
  return new Date(now - days * 86_400_000).toISOString().slice(0, 10);
}
