import { squeeze } from "./dom.ts";
import { isRecord } from "./harvest.ts";
import { isoDate } from "./iso-date.ts";
import { encodeTarget, escapeInline } from "./markdown/escape.ts";
import { htmlToMarkdown } from "./markdown/html-to-markdown.ts";
import { resolve } from "./markdown/media.ts";

export interface FeedEntry {
  title: string;
  url?: string;
  published?: string;
  summary?: string;
}

export interface Feed {
  title: string;
  url?: string;
  entries: FeedEntry[];
}

/** RSS, Atom, RDF or JSON Feed in one form; undefined when it is none of these. */
export async function readFeed(source: string, url: string): Promise<Feed | undefined> {
  const { parseFeed } = await import("feedsmith");
  let parsed: unknown;
  try {
    parsed = parseFeed(source);
  } catch (error) {
    // The library has one error for "not a feed" and others for broken markup: both mean that it is shown as text.
    if (error instanceof Error) return undefined;
    throw error;
  }
  const feed = isRecord(parsed) && isRecord(parsed.feed) ? parsed.feed : undefined;
  if (!feed) return undefined;
  const list = [feed.items, feed.entries].find(Array.isArray) ?? [];
  const link = address(feed, url);
  return {
    title: textOf(feed.title),
    ...(link === undefined ? {} : { url: link }),
    entries: list.filter(isRecord).map((entry) => entryOf(entry, url)),
  };
}

function entryOf(entry: Record<string, unknown>, url: string): FeedEntry {
  const link = address(entry, url);
  const published = dateOf(entry);
  const html =
    [entry.summary, entry.description, entry.content, entry.content_html, entry.content_text]
      .map(rawOf)
      .find((text) => text.trim() !== "") ?? "";
  const summary = squeeze(htmlToMarkdown(html, { url: link ?? url }).replace(/\s*\n\s*/g, " "));
  return {
    title: textOf(entry.title) || link || "untitled",
    ...(link === undefined ? {} : { url: link }),
    ...(published === undefined ? {} : { published }),
    ...(summary === "" ? {} : { summary: summary.length > 500 ? `${cut(summary, 499)}…` : summary }),
  };
}

function cut(text: string, length: number): string {
  return [...text.slice(0, length)].join("").replace(/[\ud800-\udbff]$/, "");
}

function address(item: Record<string, unknown>, base: string): string | undefined {
  const links = Array.isArray(item.links) ? item.links.filter(isRecord) : [];
  const chosen = links.find((each) => each.rel === undefined || each.rel === "alternate") ?? links[0];
  const guid = isRecord(item.guid) && item.guid.isPermaLink !== false ? item.guid.value : undefined;
  for (const each of [item.link, item.url, item.home_page_url, chosen?.href, guid])
    if (typeof each === "string") return resolve(each, base);
  return undefined;
}

function dateOf(item: Record<string, unknown>): string | undefined {
  const core = isRecord(item.dc) ? item.dc.dates : undefined;
  for (const each of [
    item.pubDate,
    item.published,
    item.date_published,
    item.updated,
    item.date_modified,
    Array.isArray(core) ? core[0] : undefined,
  ]) {
    if (typeof each !== "string") continue;
    const iso = isoDate(each);
    if (iso) return iso;
    const time = Date.parse(each);
    if (Number.isFinite(time)) return new Date(time).toISOString();
  }
  return undefined;
}

function rawOf(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) && typeof value.value === "string" ? value.value : "";
}

function textOf(value: unknown): string {
  return squeeze(rawOf(value).replace(/<[^>]*>/g, " "));
}

/** One item a line: linked title, date, summary. */
export function feedMarkdown(feed: Feed): string {
  const head = feed.title === "" ? "# Feed" : `# ${escapeInline(feed.title)}`;
  const items = feed.entries.map(({ title, url, published, summary }) => {
    const name = escapeInline(title).replace(/(?<!\\)[[\]]/g, "\\$&");
    const line = `- ${url === undefined ? name : `[${name}](${encodeTarget(url)})`}${published === undefined ? "" : ` (${published})`}`;
    return summary === undefined ? line : `${line}\n  ${summary}`;
  });
  return [head, items.join("\n")].filter((part) => part !== "").join("\n\n");
}
