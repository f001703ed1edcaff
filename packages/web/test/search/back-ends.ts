import type { SearchProvider } from "../../src/index.ts";
import { brave, duckduckgo, exa, hackernews, jina, npm, serper, tavily, wikipedia } from "../../src/index.ts";

/** One back end as the local server replays it. */
export interface BackEnd {
  name: string;
  /** The provider, pointed at the local server. */
  make(key?: string): SearchProvider;
  /** Where the server is asked. */
  place: string;
  contentType: string;
  /** An answer with two results: `https://one.pub/` dated 2026-01-02 where the back end tells dates, `https://two.pub/`. */
  ok: string;
  empty: string;
  needsKey: boolean;
  dates: boolean;
  json: boolean;
}

const json = "application/json";

export const duckPage = (rows: string): string =>
  `<!DOCTYPE html><html><body><div id="links" class="results">${rows}</div></body></html>`;
export const duckRow = (
  href: string,
  title: string,
  snippet: string,
  classes = "result results_links results_links_deep web-result",
): string =>
  `<div class="${classes}"><div class="links_main links_deep result__body"><h2 class="result__title"><a rel="nofollow" class="result__a" href="${href}">${title}</a></h2><a class="result__snippet" href="${href}">${snippet}</a></div></div>`;

export const backEnds: readonly BackEnd[] = [
  {
    name: "duckduckgo",
    make: () => duckduckgo({ htmlUrl: "http://duck.pub/html/", liteUrl: "http://duck.pub/lite/" }),
    place: "http://duck.pub/html/",
    contentType: "text/html; charset=utf-8",
    ok: duckPage(
      duckRow("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fone.pub%2F&amp;rut=abc", "One", "first <b>snippet</b>") +
        duckRow("//duckduckgo.com/l/?uddg=https%3A%2F%2Ftwo.pub%2F", "Two", "second"),
    ),
    empty: duckPage('<div class="no-results">No results found for <b>x</b></div>'),
    needsKey: false,
    dates: false,
    json: false,
  },
  {
    name: "wikipedia",
    make: () => wikipedia({ baseUrl: "http://{language}.wiki.pub/w/api.php" }),
    place: "http://en.wiki.pub/w/api.php",
    contentType: json,
    ok: JSON.stringify({
      batchcomplete: true,
      query: {
        pages: [
          { pageid: 2, ns: 0, title: "Two", index: 2, extract: "second", canonicalurl: "https://two.pub/" },
          {
            pageid: 1,
            ns: 0,
            title: "One",
            index: 1,
            extract: "first snippet",
            canonicalurl: "https://one.pub/",
            touched: "2026-01-02T03:04:05Z",
          },
        ],
      },
    }),
    empty: JSON.stringify({ batchcomplete: true }),
    needsKey: false,
    dates: true,
    json: true,
  },
  {
    name: "npm",
    make: () => npm({ baseUrl: "http://npm.pub" }),
    place: "http://npm.pub/-/v1/search",
    contentType: json,
    ok: JSON.stringify({
      objects: [
        {
          package: {
            name: "one",
            version: "1.2.3",
            description: "first snippet",
            date: "2026-01-02T03:04:05.000Z",
            links: { npm: "https://one.pub/" },
          },
          score: { final: 1 },
          searchScore: 1,
        },
        {
          package: { name: "@two/two", version: "0.0.1", description: "second", links: { npm: "https://two.pub/" } },
          score: { final: 1 },
          searchScore: 1,
        },
      ],
      total: 2,
    }),
    empty: JSON.stringify({ objects: [], total: 0 }),
    needsKey: false,
    dates: true,
    json: true,
  },
  {
    name: "hackernews",
    make: () => hackernews({ baseUrl: "http://hn.pub" }),
    place: "http://hn.pub/api/v1/search",
    contentType: json,
    ok: JSON.stringify({
      hits: [
        {
          objectID: "1",
          title: "One",
          url: "https://one.pub/",
          points: 10,
          num_comments: 2,
          story_text: "first snippet",
          created_at: "2026-01-02T03:04:05Z",
        },
        {
          objectID: "2",
          title: "Two",
          url: "https://two.pub/",
          points: 1,
          num_comments: 0,
          created_at: "2025-01-02T03:04:05Z",
        },
      ],
    }),
    empty: JSON.stringify({ hits: [], nbHits: 0 }),
    needsKey: false,
    dates: true,
    json: true,
  },
  {
    name: "jina",
    make: (apiKey) => jina({ baseUrl: "http://jina.pub", ...(apiKey === undefined ? {} : { apiKey }) }),
    place: "http://jina.pub/",
    contentType: json,
    ok: JSON.stringify({
      code: 200,
      status: 20_000,
      data: [
        { title: "One", url: "https://one.pub/", description: "first snippet", date: "2026-01-02" },
        { title: "Two", url: "https://two.pub/", description: "second" },
      ],
    }),
    empty: JSON.stringify({ code: 200, data: [] }),
    needsKey: true,
    dates: true,
    json: true,
  },
  {
    name: "brave",
    make: (apiKey) => brave({ baseUrl: "http://brave.pub", ...(apiKey === undefined ? {} : { apiKey }) }),
    place: "http://brave.pub/res/v1/web/search",
    contentType: json,
    ok: JSON.stringify({
      web: {
        results: [
          {
            title: "One",
            url: "https://one.pub/",
            description: "first <strong>snippet</strong>",
            page_age: "2026-01-02T03:04:05",
          },
          { title: "Two", url: "https://two.pub/", description: "second" },
        ],
      },
    }),
    empty: JSON.stringify({ type: "search" }),
    needsKey: true,
    dates: true,
    json: true,
  },
  {
    name: "tavily",
    make: (apiKey) => tavily({ baseUrl: "http://tavily.pub", ...(apiKey === undefined ? {} : { apiKey }) }),
    place: "http://tavily.pub/search",
    contentType: json,
    ok: JSON.stringify({
      results: [
        {
          title: "One",
          url: "https://one.pub/",
          content: "first snippet",
          published_date: "Fri, 02 Jan 2026 03:04:05 GMT",
          score: 0.9,
        },
        { title: "Two", url: "https://two.pub/", content: "second", score: 0.8 },
      ],
    }),
    empty: JSON.stringify({ results: [] }),
    needsKey: true,
    dates: true,
    json: true,
  },
  {
    name: "serper",
    make: (apiKey) => serper({ baseUrl: "http://serper.pub", ...(apiKey === undefined ? {} : { apiKey }) }),
    place: "http://serper.pub/search",
    contentType: json,
    ok: JSON.stringify({
      organic: [
        { title: "One", link: "https://one.pub/", snippet: "first snippet", date: "Jan 2, 2026", position: 1 },
        { title: "Two", link: "https://two.pub/", snippet: "second", position: 2 },
      ],
    }),
    empty: JSON.stringify({ searchParameters: { q: "x" }, organic: [] }),
    needsKey: true,
    dates: true,
    json: true,
  },
  {
    name: "exa",
    make: (apiKey) => exa({ baseUrl: "http://exa.pub", ...(apiKey === undefined ? {} : { apiKey }) }),
    place: "http://exa.pub/search",
    contentType: json,
    ok: JSON.stringify({
      results: [
        {
          title: "One",
          url: "https://one.pub/",
          publishedDate: "2026-01-02T03:04:05.000Z",
          highlights: ["first snippet"],
        },
        { title: "Two", url: "https://two.pub/", highlights: ["second"] },
      ],
    }),
    empty: JSON.stringify({ results: [] }),
    needsKey: true,
    dates: true,
    json: true,
  },
];
