import { z } from "zod";
import type { RawHit, SearchProvider, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, isoDate, isWebUrl, malformed, parseJson, type Received } from "../answer.ts";
import { type KeyedOptions, keyMissing } from "./keyed.ts";

const answer = z.object({
  code: z.number().optional(),
  data: z
    .array(
      z.object({
        title: z.string().nullish(),
        url: z.string(),
        description: z.string().nullish(),
        content: z.string().nullish(),
        date: z.string().nullish(),
        publishedTime: z.string().nullish(),
      }),
    )
    .nullish(),
});

/** The numbered text form: `[1] Title: …`, `[1] URL Source: …`, `[1] Description: …`, `[1] Date: …`. */
function fromText(text: string): RawHit[] {
  const found = new Map<string, RawHit>();
  for (const [, number = "", field = "", value = ""] of text.matchAll(
    /^\[(\d+)\] (Title|URL Source|Description|Date|Published Time):[ \t]*(.*)$/gm,
  )) {
    const hit = found.get(number) ?? { title: "", url: "", snippet: "" };
    if (field === "Title") hit.title = value;
    else if (field === "URL Source") hit.url = value.trim();
    else if (field === "Description") hit.snippet = value;
    else {
      const published = isoDate(value);
      if (published !== undefined) hit.published = published;
    }
    found.set(number, hit);
  }
  return [...found.values()].filter(({ url }) => isWebUrl(url));
}

export function parse(received: Received): SourceAnswer {
  if (!/^\s*[{[]/.test(received.text) || /^\[\d+\] /.test(received.text)) {
    if (/^\s*</.test(received.text)) return { status: "error", message: "sent HTML where results were expected" };
    const results = fromText(received.text);
    if (results.length > 0) return { status: "ok", results };
    return received.text.trim() === "" ? { status: "empty", results: [] } : malformed;
  }
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = answer.safeParse(json.value);
  if (!parsed.success) return malformed;
  const results = (parsed.data.data ?? [])
    .filter(({ url }) => isWebUrl(url))
    .map(({ title, url, description, content, date, publishedTime }) => {
      const published = isoDate(date ?? publishedTime ?? undefined);
      return {
        title: title ?? url,
        url,
        snippet: description ?? content?.slice(0, 500) ?? "",
        ...(published === undefined ? {} : { published }),
      };
    });
  return results.length === 0 ? { status: "empty", results: [] } : { status: "ok", results };
}

/** Jina's search; key in `JINA_API_KEY`. One refusal of the key does not switch it off. */
export function jina(options: KeyedOptions = {}): SearchProvider {
  const base = (options.baseUrl ?? "https://s.jina.ai").replace(/\/+$/, "");
  return {
    name: "jina",
    general: true,
    supports: { language: true, site: true, since: false },
    async search(query, scope) {
      const key = options.apiKey ?? process.env.JINA_API_KEY;
      if (key === undefined || key === "") return keyMissing("JINA_API_KEY", "jina");
      const parameters = new URLSearchParams({
        q: query.query,
        num: String(query.limit),
        hl: query.language.toLowerCase().split("-")[0] ?? "en",
      });
      const received = await askBackEnd(
        {
          url: `${base}/?${parameters}`,
          headers: {
            accept: "application/json",
            "x-respond-with": "no-content",
            authorization: `Bearer ${key}`,
            ...(query.site === undefined ? {} : { "x-site": query.site }),
          },
        },
        scope,
      );
      if (isFailure(received)) return { ...received, message: received.message.replaceAll(key, "[key]") };
      return parse(received);
    },
  };
}
