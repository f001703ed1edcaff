import { z } from "zod";
import type { SearchProvider, SearchQuery, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, isoDate, malformed, parseJson, type Received } from "../answer.ts";
import { plainSnippet } from "../html-text.ts";

export interface WikipediaOptions {
  /** `{language}` stands for the edition. @default "https://{language}.wikipedia.org/w/api.php" */
  baseUrl?: string;
  /** Wikipedia asks for a way to reach who runs the program. @default "toolhaft (https://github.com/toolhaft/toolhaft)" */
  userAgent?: string;
}

const answer = z.object({
  error: z.object({ code: z.string().optional(), info: z.string().optional() }).optional(),
  query: z
    .object({
      pages: z.array(
        z.object({
          title: z.string(),
          index: z.number().optional(),
          extract: z.string().optional(),
          snippet: z.string().optional(),
          canonicalurl: z.string().optional(),
          fullurl: z.string().optional(),
          touched: z.string().optional(),
        }),
      ),
    })
    .optional(),
});

/** The edition of a language: its primary tag. */
export const editionOf = (language: string): string => {
  const primary = language.toLowerCase().split("-")[0] ?? "en";
  return /^[a-z]{2,12}$/.test(primary) ? primary : "en";
};

export function urlOf(query: SearchQuery, baseUrl: string): string {
  const url = new URL(baseUrl.replace("{language}", editionOf(query.language)));
  const parameters = {
    action: "query",
    format: "json",
    formatversion: "2",
    generator: "search",
    gsrsearch: query.query,
    gsrlimit: String(query.limit),
    gsrnamespace: "0",
    gsrprop: "snippet",
    prop: "extracts|info",
    exintro: "1",
    explaintext: "1",
    exsentences: "2",
    exlimit: "max",
    inprop: "url",
    redirects: "1",
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

export async function parse(received: Received): Promise<SourceAnswer> {
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = answer.safeParse(json.value);
  if (!parsed.success) return malformed;
  const { error, query } = parsed.data;
  if (error !== undefined) {
    const message = `refused the question: ${error.info ?? error.code ?? "no reason"}`;
    return error.code === "ratelimited" || error.code === "maxlag"
      ? { status: "rate_limited", message }
      : { status: "error", message };
  }
  const pages = [...(query?.pages ?? [])].sort((a, b) => (a.index ?? 0) - (b.index ?? 0));
  const results = await Promise.all(
    pages.map(async ({ title, extract, snippet, canonicalurl, fullurl, touched }) => {
      const published = isoDate(touched);
      return {
        title: await plainSnippet(title),
        url: canonicalurl ?? fullurl ?? "",
        snippet: await plainSnippet(extract ?? snippet ?? ""),
        ...(published === undefined ? {} : { published }),
      };
    }),
  );
  const usable = results.filter(({ url }) => url !== "");
  return usable.length === 0 ? { status: "empty", results: [] } : { status: "ok", results: usable };
}

/** Wikipedia in the edition of the query's language. Needs no key. */
export function wikipedia(options: WikipediaOptions = {}): SearchProvider {
  const baseUrl = options.baseUrl ?? "https://{language}.wikipedia.org/w/api.php";
  const userAgent = options.userAgent ?? "toolhaft (https://github.com/toolhaft/toolhaft)";
  return {
    name: "wikipedia",
    general: false,
    supports: { language: true, site: false, since: false },
    async search(query, scope) {
      const received = await askBackEnd(
        { url: urlOf(query, baseUrl), headers: { "user-agent": userAgent, accept: "application/json" } },
        scope,
      );
      return isFailure(received) ? received : parse(received);
    },
  };
}
