import { z } from "zod";
import type { SearchProvider } from "../../types.ts";
import { isoDate, isWebUrl, withSite } from "../answer.ts";
import { type KeyedOptions, keyedProvider } from "./keyed.ts";

const schema = z.object({
  organic: z
    .array(
      z.object({ title: z.string(), link: z.string(), snippet: z.string().optional(), date: z.string().nullish() }),
    )
    .optional(),
  searchParameters: z.unknown().optional(),
});
const ages = { day: "qdr:d", week: "qdr:w", month: "qdr:m", year: "qdr:y" } as const;

/** Serper; key in `SERPER_API_KEY`. */
export function serper(options: KeyedOptions = {}): SearchProvider {
  return keyedProvider(
    {
      name: "serper",
      variable: "SERPER_API_KEY",
      baseUrl: "https://google.serper.dev",
      supports: { language: true, site: true, since: true },
      schema,
      request: (query, key, base) => ({
        url: `${base}/search`,
        method: "POST",
        headers: { accept: "application/json", "content-type": "application/json", "x-api-key": key },
        body: JSON.stringify({
          q: withSite(query.query, query.site),
          num: query.limit,
          hl: query.language.toLowerCase(),
          ...(query.since === undefined ? {} : { tbs: ages[query.since] }),
        }),
      }),
      hits: (answer) =>
        (answer.organic ?? [])
          .filter(({ link }) => isWebUrl(link))
          .map(({ title, link, snippet, date }) => {
            const published = isoDate(date);
            return { title, url: link, snippet: snippet ?? "", ...(published === undefined ? {} : { published }) };
          }),
    },
    options,
  );
}
