import { z } from "zod";
import type { SearchProvider } from "../../types.ts";
import { isoDate, isWebUrl, withSite } from "../answer.ts";
import { plainSnippet } from "../html-text.ts";
import { type KeyedOptions, keyedProvider } from "./keyed.ts";

const schema = z.object({
  web: z
    .object({
      results: z.array(
        z.object({
          title: z.string(),
          url: z.string(),
          description: z.string().optional(),
          page_age: z.string().nullish(),
        }),
      ),
    })
    .optional(),
});
const ages = { day: "pd", week: "pw", month: "pm", year: "py" } as const;

/** Brave Search; key in `BRAVE_API_KEY`. */
export function brave(options: KeyedOptions = {}): SearchProvider {
  return keyedProvider(
    {
      name: "brave",
      variable: "BRAVE_API_KEY",
      baseUrl: "https://api.search.brave.com",
      supports: { language: true, site: true, since: true },
      schema,
      request: (query, key, base) => ({
        url: `${base}/res/v1/web/search?${new URLSearchParams({
          q: withSite(query.query, query.site),
          count: String(query.limit),
          search_lang: query.language.toLowerCase().startsWith("zh")
            ? "zh-hans"
            : (query.language.toLowerCase().split("-")[0] ?? "en"),
          ...(query.since === undefined ? {} : { freshness: ages[query.since] }),
        })}`,
        headers: { accept: "application/json", "x-subscription-token": key },
      }),
      hits: (answer) =>
        Promise.all(
          (answer.web?.results ?? [])
            .filter(({ url }) => isWebUrl(url))
            .map(async ({ title, url, description, page_age }) => {
              const published = isoDate(page_age);
              return {
                title: await plainSnippet(title),
                url,
                snippet: await plainSnippet(description ?? ""),
                ...(published === undefined ? {} : { published }),
              };
            }),
        ),
    },
    options,
  );
}
