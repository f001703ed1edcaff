import type { Element } from "domhandler";
import { squeeze, textContent } from "./dom.ts";
import { isoDate } from "./iso-date.ts";
import { type First, recordText } from "./main-record.ts";

export function publishedOf(
  elements: readonly Element[],
  first: First,
  main: Record<string, unknown> | undefined,
  url: string,
): string | undefined {
  const known =
    isoDate(recordText(main, "datePublished", "dateCreated", "uploadDate", "datePosted", "startDate")) ??
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
  for (const element of elements) {
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
  return dateInText(elements);
}

/** A date that stands alone on a line near a byline. */
function dateInText(elements: readonly Element[]): string | undefined {
  for (const element of elements) {
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
