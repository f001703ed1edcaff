import { z } from "zod";
import type { RawHit, SearchProvider, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, isoDate, isWebUrl, malformed, parseJson, type Received } from "../answer.ts";

export interface NpmOptions {
  /** @default "https://registry.npmjs.org" */
  baseUrl?: string;
}

const packageInfo = z.object({
  name: z.string(),
  version: z.string().optional(),
  description: z.string().optional(),
  date: z.string().optional(),
  links: z.object({ npm: z.string().optional() }).optional(),
});
const searchAnswer = z.object({ objects: z.array(z.object({ package: packageInfo })) });
const packument = z.object({
  name: z.string(),
  description: z.string().optional(),
  "dist-tags": z.object({ latest: z.string().optional() }).optional(),
  time: z.record(z.string(), z.unknown()).optional(),
});

const scopedOrPlain = /^(?:@[a-z0-9-~][a-z0-9-._~]*\/)?[a-z0-9-~][a-z0-9-._~]*$/;

function hit(
  name: string,
  description: string | undefined,
  version: string | undefined,
  date: unknown,
  link: string | undefined,
): RawHit {
  const published = isoDate(date);
  return {
    title: version === undefined ? name : `${name} ${version}`,
    url: isWebUrl(link) ? link : `https://www.npmjs.com/package/${name}`,
    snippet: description ?? "",
    ...(published === undefined ? {} : { published }),
  };
}

/** Order is the registry's own: its score fields may all be equal. */
export function parseSearch(received: Received): SourceAnswer {
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = searchAnswer.safeParse(json.value);
  if (!parsed.success) return malformed;
  const results = parsed.data.objects.map(({ package: found }) =>
    hit(found.name, found.description, found.version, found.date, found.links?.npm),
  );
  return results.length === 0 ? { status: "empty", results: [] } : { status: "ok", results };
}

export function parsePackage(received: Received): SourceAnswer {
  const json = parseJson(received);
  if (!("value" in json)) return json;
  const parsed = packument.safeParse(json.value);
  if (!parsed.success) return malformed;
  const latest = parsed.data["dist-tags"]?.latest;
  const date = latest === undefined ? undefined : parsed.data.time?.[latest];
  return { status: "ok", results: [hit(parsed.data.name, parsed.data.description, latest, date, undefined)] };
}

/** The npm registry's search; a mirror without search is asked for the exact package. Needs no key. */
export function npm(options: NpmOptions = {}): SearchProvider {
  const base = (options.baseUrl ?? "https://registry.npmjs.org").replace(/\/+$/, "");
  return {
    name: "npm",
    general: false,
    supports: { language: false, site: false, since: false },
    async search(query, scope) {
      const text =
        query.query
          .replace(/\bnpm\b/gi, " ")
          .replace(/\s+/g, " ")
          .trim() || query.query;
      const url = `${base}/-/v1/search?${new URLSearchParams({ text, size: String(query.limit) })}`;
      const received = await askBackEnd({ url, headers: { accept: "application/json" } }, scope);
      if (!isFailure(received)) return parseSearch(received);
      const name = text.toLowerCase();
      if (!received.message.startsWith("answered 404") || !scopedOrPlain.test(name)) return received;
      const exact = await askBackEnd(
        { url: `${base}/${name.replace("/", "%2f")}`, headers: { accept: "application/json" } },
        scope,
      );
      if (!isFailure(exact)) return parsePackage(exact);
      return exact.message.startsWith("answered 404") ? { status: "empty", results: [] } : exact;
    },
  };
}
