import { z } from "zod";
import type { SearchProvider } from "../../types.ts";
import { isoDate, isWebUrl } from "../answer.ts";
import { dayBefore, type KeyedOptions, keyedProvider } from "./keyed.ts";

const schema = z.object({
  results: z.array(
    z.object({
      title: z.string().nullish(),
      url: z.string(),
      publishedDate: z.string().nullish(),
      text: z.string().optional(),
      summary: z.string().optional(),
      highlights: z.array(z.string()).optional(),
    }),
  ),
});

/** Exa; key in `EXA_API_KEY`. */
export function exa(options: KeyedOptions = {}): SearchProvider {
  return keyedProvider(
    {
      name: "exa",
      variable: "EXA_API_KEY",
      baseUrl: "https://api.exa.ai",
      supports: { language: false, site: true, since: true },
      schema,
      request: (query, key, base, now) => ({
        url: `${base}/search`,
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({
          query: query.query,
          numResults: query.limit,
          contents: { highlights: true },
          ...(query.site === undefined ? {} : { includeDomains: [query.site] }),
          ...(query.since === undefined ? {} : { startPublishedDate: dayBefore(query.since, now) }),
        }),
      }),
      hits: (answer) =>
        answer.results
          .filter(({ url }) => isWebUrl(url))
          .map(({ title, url, publishedDate, text, summary, highlights }) => {
            const published = isoDate(publishedDate);
            return {
              title: title ?? url,
              url,
              snippet: highlights?.join(" … ") ?? summary ?? text?.slice(0, 500) ?? "",
              ...(published === undefined ? {} : { published }),
            };
          }),
    },
    options,
  );
}
