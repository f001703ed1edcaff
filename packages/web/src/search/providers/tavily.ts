import { z } from "zod";
import type { SearchProvider } from "../../types.ts";
import { isoDate, isWebUrl } from "../answer.ts";
import { type KeyedOptions, keyedProvider } from "./keyed.ts";

const schema = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().optional(),
      published_date: z.string().nullish(),
    }),
  ),
});

/** Tavily; key in `TAVILY_API_KEY`. */
export function tavily(options: KeyedOptions = {}): SearchProvider {
  return keyedProvider(
    {
      name: "tavily",
      variable: "TAVILY_API_KEY",
      baseUrl: "https://api.tavily.com",
      supports: { language: false, site: true, since: true },
      schema,
      request: (query, key, base) => ({
        url: `${base}/search`,
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({
          query: query.query,
          max_results: query.limit,
          ...(query.site === undefined ? {} : { include_domains: [query.site] }),
          ...(query.since === undefined ? {} : { time_range: query.since }),
        }),
      }),
      hits: (answer) =>
        answer.results
          .filter(({ url }) => isWebUrl(url))
          .map(({ title, url, content, published_date }) => {
            const published = isoDate(published_date);
            return { title, url, snippet: content ?? "", ...(published === undefined ? {} : { published }) };
          }),
    },
    options,
  );
}
