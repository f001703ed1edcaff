import { squeeze } from "./dom.ts";
import { isRecord, recordsIn, typesOf } from "./harvest.ts";
import type { PageData } from "./types.ts";

/** The first of these meta tags that says something. */
export type First = (...names: string[]) => string | undefined;

const mainTypes =
  /article|posting|report|recipe|review|product|^webpage$|question|discussion|movie|book|event|course|howto|video|podcast|softwareapplication|dataset|jobposting/i;

/** The record of JSON-LD or microdata that the page is about. */
export function mainRecord(data: PageData, url: string): Record<string, unknown> | undefined {
  let best: Record<string, unknown> | undefined;
  let bestWorth = 0;
  for (const record of [...recordsIn(data.jsonLd), ...recordsIn(data.microdata)]) {
    const types = typesOf(record);
    if (!types.some((type) => mainTypes.test(type))) continue;
    const isPage = types.every((type) => /^webpage$/i.test(type));
    const about = [
      record.url,
      record["@id"],
      isRecord(record.mainEntityOfPage) ? record.mainEntityOfPage["@id"] : record.mainEntityOfPage,
    ];
    const worth =
      (isPage ? 1 : 3) +
      (about.some((each) => typeof each === "string" && samePage(each, url)) ? 2 : 0) +
      (record.datePublished ? 1 : 0) +
      (record.author ? 1 : 0) +
      (/^(?:review|comment)$/i.test(types[0] ?? "") ? -3 : 0);
    if (worth > bestWorth) {
      best = record;
      bestWorth = worth;
    }
  }
  return best;
}

function samePage(given: string, url: string): boolean {
  const plain = (value: string): string =>
    value
      .replace(/^https?:\/\/(?:www\.)?/, "")
      .replace(/[#?].*$/, "")
      .replace(/\/$/, "");
  return plain(given) === plain(url);
}

export function recordText(record: Record<string, unknown> | undefined, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = record?.[name];
    const item = Array.isArray(value) ? value[0] : value;
    if (typeof item === "string" && squeeze(item) !== "") return squeeze(unescapeEntities(item));
    if (isRecord(item) && typeof item["@value"] === "string") return squeeze(item["@value"]);
  }
  return undefined;
}

export function unescapeEntities(value: string): string {
  const named: Readonly<Record<string, string>> = {
    amp: "&",
    lt: "<",
    gt: ">",
    quot: '"',
    apos: "'",
    nbsp: " ",
    rsquo: "’",
    lsquo: "‘",
    ldquo: "“",
    rdquo: "”",
    ndash: "–",
    mdash: "—",
    hellip: "…",
  };
  return value
    .replace(/&#(x[0-9a-f]+|\d+);/gi, (whole, code: string) => {
      const point = /^x/i.test(code) ? Number.parseInt(code.slice(1), 16) : Number(code);
      return point > 0 && point < 0x110000 ? String.fromCodePoint(point) : whole;
    })
    .replace(/&([a-z]+);/gi, (whole, name: string) => named[name.toLowerCase()] ?? whole);
}
