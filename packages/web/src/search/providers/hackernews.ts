import { z } from "zod";
import type { SearchProvider, SearchQuery, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, isoDate, isWebUrl, malformed, parseJson, type Received } from "../answer.ts";
import { plainSnippet } from "../html-text.ts";

export interface HackerNewsOptions {
  /** @default "https://hn.algolia.com" */
  baseUrl?: string;
}

const text = z.string().nullish();
const answer = z.object({
  hits: z.array(
    z.object({
      objectID: z.string(),
      title: text,
      story_title: text,
      url: text,
      story_text: text,
      comment_text: text,
      author: text,
      points: z.number().nullish(),
      num_comments: z.number().nullish(),
      created_at: text,
    }),
  ),
});

const ages = { day: 86_400, week: 604_800, month: 2_592_000, year: 31_536_000 } as const;

export function urlOf(query: SearchQuery, base: string, now: number): string {
  const words =
    query.query
      .replace(/\b(?:hacker\s+news|hn)\b/gi, " ")
      .replace(/\s+/g, " ")
      .trim() || query.query;
  const since =
    query.since === undefined ? {} : { numericFilters: `created_at_i>${Math.floor(now / 1000) - ages[query.since]}` };
  return `${base}/api/v1/search?${new URLSearchParams({ query: words, tags: "story", hitsPerPage: String(query.limit), ...since })}`;
}

export async function parse(received: Received): Promise<SourceAnswer> {
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = answer.safeParse(json.value);
  if (!parsed.success) return malformed;
  const results = await Promise.all(
    parsed.data.hits.map(async (hit) => {
      const published = isoDate(hit.created_at ?? undefined);
      const told = await plainSnippet(hit.story_text ?? hit.comment_text ?? "");
      const counts = `${hit.points ?? 0} points, ${hit.num_comments ?? 0} comments`;
      return {
        title: hit.title ?? hit.story_title ?? told.slice(0, 80),
        url: isWebUrl(hit.url) ? hit.url : `https://news.ycombinator.com/item?id=${encodeURIComponent(hit.objectID)}`,
        snippet: told === "" ? counts : told,
        ...(published === undefined ? {} : { published }),
      };
    }),
  );
  return results.length === 0 ? { status: "empty", results: [] } : { status: "ok", results };
}

/** Stories of Hacker News. Needs no key. */
export function hackernews(options: HackerNewsOptions = {}): SearchProvider {
  const base = (options.baseUrl ?? "https://hn.algolia.com").replace(/\/+$/, "");
  return {
    name: "hackernews",
    general: false,
    supports: { language: false, site: false, since: true },
    async search(query, scope) {
      const received = await askBackEnd(
        { url: urlOf(query, base, scope.clock.now()), headers: { accept: "application/json" } },
        scope,
      );
      return isFailure(received) ? received : parse(received);
    },
  };
}
