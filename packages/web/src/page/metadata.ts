import { type Document, Element } from "domhandler";
import { elementsIn, isText, squeeze, textContent } from "./dom.ts";
import { isRecord, recordsIn, typesOf } from "./harvest.ts";
import { resolve } from "./markdown/media.ts";
import type { PageData, PageMetadata } from "./types.ts";

const mainTypes =
  /article|posting|report|recipe|review|product|^webpage$|question|discussion|movie|book|event|course|howto|video|podcast|softwareapplication|dataset|jobposting/i;

/** Title, author, dates and the rest, each from the source that is most often right. */
export function readMetadata(document: Document, data: PageData, url: string, base: string): PageMetadata {
  const metas = metaTags(document);
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
  put("title", titleOf(document, first, main, site));
  put("author", authorOf(document, first, main, site));
  put("published", publishedOf(document, first, main, url));
  put(
    "modified",
    isoDate(
      text(main, "dateModified") ??
        first("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified"),
    ),
  );
  put("site", site);
  put("language", languageOf(document, first));
  put(
    "description",
    first("og:description", "description", "twitter:description", "dc.description") ?? text(main, "description"),
  );
  put(
    "image",
    absolute(
      first("og:image:secure_url", "og:image", "og:image:url", "twitter:image", "twitter:image:src") ?? imageOf(main),
      base,
    ),
  );
  put("canonical", absolute(linkOf(document, "canonical") ?? first("og:url"), base));
  return result;
}

function absolute(value: string | undefined, base: string): string | undefined {
  const url = resolve(value, base);
  return url?.startsWith("http") ? url : undefined;
}

function metaTags(document: Document): Map<string, string> {
  const map = new Map<string, string>();
  for (const { name, attribs } of elementsIn(document)) {
    if (name !== "meta") continue;
    const key = (attribs.property ?? attribs.name ?? attribs.itemprop ?? attribs["http-equiv"] ?? "")
      .toLowerCase()
      .trim();
    if (key && attribs.content && !map.has(key)) map.set(key, attribs.content);
  }
  return map;
}

function mainRecord(data: PageData, url: string): Record<string, unknown> | undefined {
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

function text(record: Record<string, unknown> | undefined, ...names: string[]): string | undefined {
  for (const name of names) {
    const value = record?.[name];
    const item = Array.isArray(value) ? value[0] : value;
    if (typeof item === "string" && squeeze(item) !== "") return squeeze(unescapeEntities(item));
    if (isRecord(item) && typeof item["@value"] === "string") return squeeze(item["@value"]);
  }
  return undefined;
}

function unescapeEntities(value: string): string {
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

type First = (...names: string[]) => string | undefined;

function titleOf(
  document: Document,
  first: First,
  main: Record<string, unknown> | undefined,
  site: string | undefined,
): string | undefined {
  const headings: string[] = [];
  let head = "";
  for (const element of elementsIn(document)) {
    if (element.name === "h1" && headings.length < 8) headings.push(squeeze(textContent(element)));
    else if (element.name === "title" && !head && element.parent instanceof Element && element.parent.name === "head")
      head = squeeze(textContent(element));
  }
  const social = first("og:title", "twitter:title", "dc.title", "title", "sailthru.title");
  const lines = [...new Set(headings.map((line) => line.replace(/\s*[¶#]$/, "")))].filter(
    (line) => line !== "" && line.length < 300,
  );
  const known = [social, head, text(main, "headline", "name")].filter(
    (line): line is string => line !== undefined && line !== "",
  );
  let best: { line: string; worth: number } | undefined;
  for (const line of lines) {
    const worth = headingWorth(line, known, head, site, lines.length);
    if (worth > 0 && (!best || worth > best.worth)) best = { line, worth };
  }
  if (best) return best.line;
  const other = known[0];
  return other === undefined ? lines[0] : withoutSite(other, site);
}

/** A heading is the title when it stands alone or the head of the page begins with it; the name of the site never is. */
function headingWorth(
  line: string,
  known: readonly string[],
  head: string,
  site: string | undefined,
  count: number,
): number {
  const folded = foldText(line);
  if (folded.length < 2 || (site !== undefined && folded === foldText(site))) return 0;
  const starts = known.some((other) => foldText(other) === folded || foldText(other).startsWith(`${folded} `));
  const inside = known.some((other) => folded.length > 12 && foldText(other).includes(folded));
  // "Chapter - Name of the book": the part that closes the head's title names the site.
  const closes = foldText(head).endsWith(` ${folded}`) && !starts;
  return (
    (starts ? 4 : inside ? 2 : 0) +
    (count === 1 ? 1 : 0) -
    (closes ? 4 : 0) -
    (/^(?:home|readme|menu|search|welcome)$/.test(folded) ? 4 : 0)
  );
}

function foldText(value: string): string {
  return value
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

function withoutSite(title: string, site: string | undefined): string {
  const parts = title.split(/\s+[|\u2013\u2014·»-]\s+|\s*[|»]\s*/);
  if (parts.length < 2) return title;
  const last = parts[parts.length - 1] ?? "";
  const fold = (value: string): string => value.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
  const cut = title.slice(0, title.lastIndexOf(last)).replace(/\s*[|\u2013\u2014·»-]\s*$/, "");
  if (site && fold(last) === fold(site)) return cut;
  return last.length < 30 && cut.length > last.length * 1.2 ? cut : title;
}

function authorOf(
  document: Document,
  first: First,
  main: Record<string, unknown> | undefined,
  site: string | undefined,
): string | undefined {
  const fromData = namesOf(main?.author ?? main?.creator);
  if (fromData) return fromData;
  const meta = first(
    "author",
    "article:author",
    "dc.creator",
    "dcterms.creator",
    "parsely-author",
    "sailthru.author",
    "citation_author",
    "byl",
    "twitter:data1",
  );
  if (meta && isName(meta) && meta !== site) return cleanName(meta);
  for (const element of elementsIn(document)) {
    const { attribs } = element;
    const marked =
      attribs.rel?.split(/\s+/).includes("author") || /(?:^|\s)author(?:\s|$)/.test(attribs.itemprop ?? "");
    const byClass =
      /(?:^|[\s_-])(?:byline|author(?:-?name)?|post-author|entry-author|p-author|vcard)(?:$|[\s_-])/i.test(
        attribs.class ?? "",
      );
    if (!marked && !byClass) continue;
    const name = cleanName(squeeze(textContent(element)));
    if (name !== site && isName(name)) return name;
  }
  for (const element of elementsIn(document)) {
    if (
      !/^(?:p|div|span|address|li)$/.test(element.name) ||
      !element.children.every((child) => isText(child) || (child instanceof Element && child.name === "a"))
    )
      continue;
    const line = squeeze(textContent(element));
    const named =
      /^(?:by|written by|posted by|author:)\s+((?:\p{Lu}[\p{L}'’.-]+)(?:\s+\p{Lu}[\p{L}'’.-]*){1,3})(?:$|\s*[|,·•])/u.exec(
        line,
      )?.[1];
    if (named && line.length < 120) return named;
  }
  return undefined;
}

function namesOf(value: unknown): string | undefined {
  const list = Array.isArray(value) ? value : [value];
  const names = list
    .map((each) => (typeof each === "string" ? each : isRecord(each) ? text(each, "name") : undefined))
    .filter((name): name is string => name !== undefined)
    .map((name) => cleanName(unescapeEntities(name)))
    .filter(isName);
  return names.length === 0 ? undefined : [...new Set(names)].slice(0, 6).join(", ");
}

function cleanName(value: string): string {
  return value
    .replace(/^(?:by|written by|posted by|author|von|par|por|di|door)[:\s]+/i, "")
    .replace(
      /\s*(?:[|•·].*|,?\s*(?:(?:january|february|march|april|may|june|july|august|september|october|november|december)\s+\d|\d{1,2}[./]|(?:19|20)\d\d).*)$/i,
      "",
    )
    .trim();
}

function isName(value: string): boolean {
  return (
    value.length > 1 && value.length < 80 && !/^https?:|@|^\d+$|[{}<>]/.test(value) && value.split(/\s+/).length <= 10
  );
}

function publishedOf(
  document: Document,
  first: First,
  main: Record<string, unknown> | undefined,
  url: string,
): string | undefined {
  const known =
    isoDate(text(main, "datePublished", "dateCreated", "uploadDate", "datePosted", "startDate")) ??
    isoDate(
      first(
        "article:published_time",
        "og:published_time",
        "datepublished",
        "dc.date.issued",
        "dc.date",
        "dcterms.created",
        "dcterms.date",
        "date",
        "publishdate",
        "publish-date",
        "pubdate",
        "parsely-pub-date",
        "sailthru.date",
        "citation_publication_date",
        "citation_date",
        "article.published",
        "cxenseparse:recs:publishtime",
      ),
    );
  if (known) return known;
  let best: { date: string; worth: number } | undefined;
  for (const element of elementsIn(document)) {
    const { attribs } = element;
    if (element.name !== "time" && !/datePublished/i.test(attribs.itemprop ?? "")) continue;
    const date = isoDate(attribs.datetime ?? attribs.content ?? squeeze(textContent(element)));
    if (!date) continue;
    const names = `${attribs.class ?? ""} ${attribs.itemprop ?? ""} ${attribs.pubdate === undefined ? "" : "pubdate"}`;
    const worth =
      (/publish|pubdate|entry-date|posted|created/i.test(names) ? 3 : 0) -
      (/updated|modified/i.test(names) ? 1 : 0) +
      1;
    if (!best || worth > best.worth) best = { date, worth };
  }
  if (best) return best.date;
  const path = /\/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?:\/|-|$)/.exec(url);
  if (path) return `${path[1]}-${path[2]?.padStart(2, "0")}-${path[3]?.padStart(2, "0")}`;
  return dateInText(document);
}

/** A date that stands alone on a line near a byline. */
function dateInText(document: Document): string | undefined {
  for (const element of elementsIn(document)) {
    if (!/date|time|meta|byline|publish|posted/i.test(`${element.attribs.class ?? ""} ${element.attribs.id ?? ""}`))
      continue;
    const line = squeeze(textContent(element));
    if (line.length > 160) continue;
    const date =
      isoDate(line) ??
      isoDate(/(?:\p{L}+\.?\s+\d{1,2},?\s+(?:19|20)\d\d|\d{1,2}\.?\s+\p{L}+\.?\s+(?:19|20)\d\d)/u.exec(line)?.[0]);
    if (date) return date;
  }
  return undefined;
}

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/** ISO 8601, as exact as the source was; undefined for what cannot be read for sure. */
export function isoDate(value: string | undefined): string | undefined {
  const given = value?.trim();
  if (!given) return undefined;
  const iso =
    /^((?:19|20)\d\d)-(\d\d)-(\d\d)(?:[T\s]+(\d\d:\d\d(?::\d\d)?(?:\.\d+)?)\s*(Z|UTC|[+-]\d\d:?\d\d)?)?/i.exec(given);
  if (iso) {
    const [, year, month, day, time, zone] = iso;
    if (!realDay(Number(year), Number(month), Number(day))) return undefined;
    const offset =
      zone === undefined ? "" : /^(?:z|utc)$/i.test(zone) ? "Z" : zone.replace(/^([+-]\d\d):?(\d\d)$/, "$1:$2");
    return time ? `${year}-${month}-${day}T${time}${offset}` : `${year}-${month}-${day}`;
  }
  const compact =
    /^((?:19|20)\d\d)(\d\d)(\d\d)(?:$|T)/.exec(given) ?? /^((?:19|20)\d\d)\/(\d{1,2})\/(\d{1,2})/.exec(given);
  if (compact) return day(Number(compact[1]), Number(compact[2]), Number(compact[3]));
  const english = /(?:^|[\s,])(\p{L}{3,9})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+((?:19|20)\d\d)/u.exec(given);
  if (english) return day(Number(english[3]), monthOf(english[1] ?? ""), Number(english[2]));
  const british = /(?:^|[\s,])(\d{1,2})(?:st|nd|rd|th|\.)?\s+(?:of\s+)?(\p{L}{3,9})\.?,?\s+((?:19|20)\d\d)/u.exec(
    given,
  );
  if (british) return day(Number(british[3]), monthOf(british[2] ?? ""), Number(british[1]));
  const asian = /((?:19|20)\d\d)\s*[年년.]\s*(\d{1,2})\s*[月월.]\s*(\d{1,2})/.exec(given);
  if (asian) return day(Number(asian[1]), Number(asian[2]), Number(asian[3]));
  return undefined;
}

function monthOf(name: string): number {
  return months.indexOf(name.slice(0, 3).toLowerCase()) + 1;
}

function day(year: number, month: number, date: number): string | undefined {
  return realDay(year, month, date)
    ? `${year}-${String(month).padStart(2, "0")}-${String(date).padStart(2, "0")}`
    : undefined;
}

function realDay(year: number, month: number, date: number): boolean {
  return month >= 1 && month <= 12 && date >= 1 && date <= new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function siteOf(data: PageData): string | undefined {
  for (const record of recordsIn(data.jsonLd)) {
    if (typesOf(record).includes("WebSite")) return text(record, "name");
    const publisher = record.publisher;
    if (isRecord(publisher) && text(publisher, "name")) return text(publisher, "name");
  }
  return undefined;
}

function languageOf(document: Document, first: First): string | undefined {
  for (const { name, attribs } of elementsIn(document)) {
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
  return typeof image === "string" ? image : isRecord(image) ? text(image, "url", "contentUrl") : undefined;
}

function linkOf(document: Document, relation: string): string | undefined {
  for (const { name, attribs } of elementsIn(document))
    if (name === "link" && attribs.rel?.toLowerCase().split(/\s+/).includes(relation) && attribs.href)
      return attribs.href;
  return undefined;
}
