import type { AnyNode, Element } from "domhandler";
import type { RawHit, SearchProvider, SearchQuery, SourceAnswer } from "../../types.ts";
import { askBackEnd, isFailure, type Received, withSite } from "../answer.ts";
import { parseHtml, textOf } from "../html-text.ts";

export interface DuckDuckGoOptions {
  /** @default "https://html.duckduckgo.com/html/" */
  htmlUrl?: string;
  /** @default "https://lite.duckduckgo.com/lite/" */
  liteUrl?: string;
  /** Least time between two questions. @default 2_000 */
  intervalMs?: number;
}

const regions: Readonly<Record<string, string>> = {
  de: "de-de",
  en: "wt-wt",
  es: "es-es",
  fr: "fr-fr",
  it: "it-it",
  ja: "jp-jp",
  ko: "kr-kr",
  nl: "nl-nl",
  pl: "pl-pl",
  pt: "pt-pt",
  ru: "ru-ru",
  zh: "cn-zh",
};
const ages = { day: "d", week: "w", month: "m", year: "y" } as const;

/** The engine's own host, not one that only looks like it. */
const isOwnHost = (host: string): boolean => host === "duckduckgo.com" || host.endsWith(".duckduckgo.com");

/**
 * Where a result link really leads. The target sits percent-encoded in `uddg` and is decoded once; advertising links give
 * nothing.
 */
export function unwrapTarget(href: string): string | undefined {
  const base = "https://duckduckgo.com/";
  if (!URL.canParse(href, base)) return undefined;
  const url = new URL(href, base);
  if (isOwnHost(url.hostname)) {
    if (url.pathname !== "/l/") return undefined;
    const target = url.searchParams.get("uddg");
    if (target === null || !URL.canParse(target)) return undefined;
    const parsed = new URL(target);
    const isAd = isOwnHost(parsed.hostname) && parsed.pathname.startsWith("/y.js");
    return !isAd && /^https?:$/.test(parsed.protocol) ? target : undefined;
  }
  return /^https?:$/.test(url.protocol) ? url.href : undefined;
}

/** The form fields of a query. */
export function formOf(query: SearchQuery): string {
  const language = query.language.toLowerCase();
  const exact = /^[a-z]{2}-[a-z]{2}$/.test(language) ? language.split("-").reverse().join("-") : undefined;
  return new URLSearchParams({
    q: withSite(query.query, query.site),
    kl: exact ?? regions[language.slice(0, 2)] ?? "wt-wt",
    ...(query.since === undefined ? {} : { df: ages[query.since] }),
  }).toString();
}

const classesOf = (node: AnyNode): readonly string[] =>
  node.type === "tag" ? (node.attribs.class ?? "").split(/\s+/) : [];

function* elements(nodes: readonly AnyNode[]): Generator<Element> {
  for (const node of nodes) {
    if (node.type === "tag") yield node;
    if ("children" in node) yield* elements(node.children);
  }
}

function insideAd(node: AnyNode): boolean {
  for (let at: AnyNode | null = node; at !== null; at = at.parent)
    if (classesOf(at).some((name) => /^(?:result--ad|result-sponsored)$/.test(name))) return true;
  return false;
}

/** The results of the HTML and of the lite page. */
export async function parse(received: Received): Promise<SourceAnswer> {
  const tree = await parseHtml(received.text);
  const hits: RawHit[] = [];
  let none = false;
  let challenge = received.status === 202;
  for (const element of elements(tree)) {
    const classes = classesOf(element);
    if (classes.includes("no-results")) none = true;
    if (element.attribs.id === "challenge-form" || classes.includes("anomaly-modal__title")) challenge = true;
    if (insideAd(element)) continue;
    const isLink = element.name === "a" && (classes.includes("result__a") || classes.includes("result-link"));
    if (isLink) {
      const url = unwrapTarget(element.attribs.href ?? "");
      hits.push({ title: textOf(element.children), url: url ?? "", snippet: "" });
    } else if (classes.includes("result__snippet") || classes.includes("result-snippet")) {
      const last = hits.at(-1);
      if (last !== undefined && last.snippet === "") last.snippet = textOf(element.children);
    }
  }
  const results = hits.filter(({ url }) => url !== "");
  if (results.length > 0) return { status: "ok", results };
  if (none) return { status: "empty", results: [] };
  if (challenge) return { status: "rate_limited", message: "wants to know whether a person is there" };
  return { status: "error", message: "the page has neither results nor the mark of none" };
}

/** A wait that an abort ends at once. */
async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  const { setTimeout: wait } = await import("node:timers/promises");
  await wait(ms, undefined, signal === undefined ? {} : { signal });
}

/** DuckDuckGo's HTML form, and its lite page when the first is blocked. Needs no key. */
export function duckduckgo(options: DuckDuckGoOptions = {}): SearchProvider {
  const pages = [
    options.htmlUrl ?? "https://html.duckduckgo.com/html/",
    options.liteUrl ?? "https://lite.duckduckgo.com/lite/",
  ];
  const intervalMs = options.intervalMs ?? 2_000;
  let free = 0;

  async function ask(
    url: string,
    query: SearchQuery,
    scope: Parameters<SearchProvider["search"]>[1],
  ): Promise<SourceAnswer> {
    const answer = await askBackEnd(
      {
        url,
        method: "POST",
        body: formOf(query),
        headers: { "content-type": "application/x-www-form-urlencoded", "accept-language": query.language },
      },
      scope,
    );
    return isFailure(answer) ? answer : parse(answer);
  }

  return {
    name: "duckduckgo",
    general: true,
    supports: { language: true, site: true, since: true },
    async search(query, scope) {
      const now = scope.clock.now();
      const wait = Math.max(0, free - now);
      free = Math.max(now, free) + intervalMs;
      if (wait > 0) {
        await pause(wait, scope.signal);
      }
      const [html = "", lite = ""] = pages;
      const first = await ask(html, query, scope);
      if (first.status !== "rate_limited" && first.status !== "blocked") return first;
      const second = await ask(lite, query, scope);
      return second.status === "ok" || second.status === "empty" ? second : first;
    },
  };
}
