import { createNet, type Net } from "@toolhaft/net";
import { z } from "zod";
import type { SearchProvider, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, isoDate, isWebUrl, malformed, parseJson, type Received, withSite } from "../answer.ts";

export interface SearxngOptions {
  /** Your own server: `http://127.0.0.1:8888`. Its host is opened for this provider alone. */
  baseUrl: string;
}

const answer = z.object({
  results: z.array(
    z.object({
      title: z.string(),
      url: z.string(),
      content: z.string().nullish(),
      publishedDate: z.string().nullish(),
    }),
  ),
  unresponsive_engines: z.array(z.array(z.unknown())).optional(),
});

export function parse(received: Received, limit: number): SourceAnswer {
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = answer.safeParse(json.value);
  if (!parsed.success) return malformed;
  const silent = (parsed.data.unresponsive_engines ?? []).map(([name, reason]) => `${name} (${reason ?? "no answer"})`);
  const message = silent.length === 0 ? {} : { message: `no answer from ${silent.join(", ")}` };
  const results = parsed.data.results
    .filter(({ url }) => isWebUrl(url))
    .slice(0, limit)
    .map(({ title, url, content, publishedDate }) => {
      const published = isoDate(publishedDate);
      return { title, url, snippet: content ?? "", ...(published === undefined ? {} : { published }) };
    });
  return results.length === 0 ? { status: "empty", results: [], ...message } : { status: "ok", results, ...message };
}

/** A SearXNG server of your own, private or not. */
export function searxng(options: SearxngOptions): SearchProvider {
  const base = new URL(options.baseUrl.endsWith("/") ? options.baseUrl : `${options.baseUrl}/`);
  const port = base.port === "" ? (base.protocol === "https:" ? 443 : 80) : Number(base.port);
  let own: Net | undefined;

  return {
    name: "searxng",
    general: true,
    supports: { language: true, site: true, since: true },
    async search(query, scope) {
      own ??= createNet({ allow: [`${base.hostname}:${port}`], minIntervalMs: 0 });
      const url = new URL("search", base);
      const parameters = {
        q: withSite(query.query, query.site),
        format: "json",
        language: query.language,
        ...(query.since === undefined ? {} : { time_range: query.since }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      const received = await askBackEnd(
        { url: url.href, headers: { accept: "application/json" }, redirects: 0 },
        { ...scope, net: own },
      );
      if (!isFailure(received)) return parse(received, query.limit);
      if (received.message.startsWith("answered 403")) {
        return {
          status: "blocked",
          message: "answered 403: JSON is off; add `json` to `search.formats` in the server's settings.yml",
        };
      }
      return received;
    },
    async close() {
      const opened = own;
      own = undefined;
      await opened?.close();
    },
  };
}
