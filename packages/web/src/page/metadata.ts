import type { Document, Element } from "domhandler";
import { authorOf } from "./author.ts";
import { elementsIn, squeeze } from "./dom.ts";
import { isRecord, recordsIn, typesOf } from "./harvest.ts";
import { isoDate } from "./iso-date.ts";
import { type First, mainRecord, recordText } from "./main-record.ts";
import { resolve } from "./markdown/media.ts";
import { publishedOf } from "./published.ts";
import { titleOf } from "./title.ts";
import type { PageData, PageMetadata } from "./types.ts";

/** Title, author, dates and the rest, each from the source that is most often right. */
export function readMetadata(document: Document, data: PageData, url: string, base: string): PageMetadata {
  const elements = elementsIn(document);
  const metas = metaTags(elements);
  const main = mainRecord(data, url);
  const first = (...names: string[]): string | undefined => {
    for (const name of names) {
      const value = squeeze(metas.get(name) ?? "");
      if (value !== "") return value;
    }
    return undefined;
  };
  const site = first("og:site_name", "application-name") ?? siteOf(data);
  const result: PageMetadata = {};
  const put = (name: keyof PageMetadata, value: string | undefined): void => {
    if (value !== undefined && value !== "") result[name] = value;
  };
  put("title", titleOf(elements, { first, main, site, url }));
  put("author", authorOf(elements, first, main, site));
  put("published", publishedOf(elements, first, main, url));
  put(
    "modified",
    isoDate(
      recordText(main, "dateModified") ??
        first("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified"),
    ),
  );
  put("site", site);
  put("language", languageOf(elements, first));
  put(
    "description",
    first("og:description", "description", "twitter:description", "dc.description") ?? recordText(main, "description"),
  );
  put(
    "image",
    absolute(
      first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src") ?? imageOf(main),
      base,
    ),
  );
  put("canonical", absolute(linkOf(elements, "canonical") ?? first("og:url"), base));
  return result;
}

function absolute(value: string | undefined, base: string): string | undefined {
  const url = resolve(value, base);
  return url?.startsWith("http") ? url : undefined;
}

function metaTags(elements: readonly Element[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const { name, attribs } of elements) {
    if (name !== "meta") continue;
    const key = (attribs.property ?? attribs.name ?? attribs.itemprop ?? attribs["http-equiv"] ?? "")
      .toLowerCase()
      .trim();
    if (key && attribs.content && !map.has(key)) map.set(key, attribs.content);
  }
  return map;
}

function siteOf(data: PageData): string | undefined {
  for (const record of recordsIn(data.jsonLd)) {
    if (typesOf(record).includes("WebSite")) return recordText(record, "name");
    const publisher = record.publisher;
    if (isRecord(publisher) && recordText(publisher, "name")) return recordText(publisher, "name");
  }
  return undefined;
}

function languageOf(elements: readonly Element[], first: First): string | undefined {
  for (const { name, attribs } of elements) {
    if (name === "html") {
      const given = (attribs.lang ?? attribs["xml:lang"])?.trim();
      if (given && /^[a-z]{2,3}(?:[-_][\w-]+)?$/i.test(given)) return given.replace("_", "-");
      break;
    }
  }
  const given = first("content-language", "og:locale", "language", "dc.language");
  return given && /^[a-z]{2,3}(?:[-_]\w+)?$/i.test(given) ? given.replace("_", "-") : undefined;
}

function imageOf(main: Record<string, unknown> | undefined): string | undefined {
  const image = Array.isArray(main?.image) ? main.image[0] : main?.image;
  return typeof image === "string" ? image : isRecord(image) ? recordText(image, "url", "contentUrl") : undefined;
}

function linkOf(elements: readonly Element[], relation: string): string | undefined {
  for (const { name, attribs } of elements)
    if (name === "link" && attribs.rel?.toLowerCase().split(/\s+/).includes(relation) && attribs.href)
      return attribs.href;
  return undefined;
}
