import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fuse, limitHosts } from "../../src/search/fusion.ts";
import { languageOf } from "../../src/search/language.ts";
import { isMeant } from "../../src/search/search.ts";
import { urlKey } from "../../src/search/url-key.ts";

const hit = (url: string, snippet = "") => ({ title: url, url, snippet });

describe("the key of a URL", () => {
  it.each([
    ["http://www.x.pub/a/?utm_source=z", "https://x.pub/a"],
    ["https://x.pub:443/a#part", "http://X.pub/a"],
    ["https://m.x.pub/a", "https://x.pub/a"],
    ["https://x.pub/a/amp/", "https://x.pub/a"],
    ["https://x.pub/a?amp=1", "https://x.pub/a"],
    ["https://x.pub/a?b=2&a=1&gclid=9&fbclid=8", "https://x.pub/a?a=1&b=2"],
    ["https://x.pub//a", "https://x.pub/a"],
  ])("%s and %s are one page", (a, b) => expect(urlKey(a)).toBe(urlKey(b)));

  it.each([
    ["https://x.pub/a", "https://x.pub/A"],
    ["https://x.pub/a?id=1", "https://x.pub/a?id=2"],
    ["https://x.pub:8080/a", "https://x.pub/a"],
    ["https://m.pub/a", "https://pub/a"],
    ["https://wwwx.pub/", "https://x.pub/"],
  ])("%s and %s are two pages", (a, b) => expect(urlKey(a)).not.toBe(urlKey(b)));

  it("is idempotent", () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), (url) => {
        expect(urlKey(`https://${urlKey(url)}`)).toBe(urlKey(url));
      }),
    );
  });
});

describe("fusion", () => {
  it("sums reciprocal ranks by weight, keeps the longest snippet and names every source", () => {
    const fused = fuse([
      { name: "one", weight: 1, hits: [hit("https://a.pub/", "short"), hit("https://b.pub/")] },
      {
        name: "two",
        weight: 0.5,
        hits: [hit("http://www.b.pub/?utm_source=x", "the longer snippet"), hit("https://c.pub/")],
      },
    ]);
    expect(fused.map(({ url, sources }) => [url, ...sources.map(({ name, rank }) => `${name} ${rank}`)])).toEqual([
      ["https://b.pub/", "one 2", "two 1"],
      ["https://a.pub/", "one 1"],
      ["https://c.pub/", "two 2"],
    ]);
    expect(fused[0]?.snippet).toBe("the longer snippet");
    expect(fused[0]?.score).toBeCloseTo(1 / 62 + 0.5 / 61, 10);
  });

  it("breaks ties by best rank, then by the order of the sources, and counts a repeated page once", () => {
    const fused = fuse([
      { name: "one", weight: 1, hits: [hit("https://a.pub/"), hit("https://a.pub/#x"), hit("https://b.pub/")] },
      { name: "two", weight: 1, hits: [hit("https://c.pub/"), hit("https://d.pub/")] },
    ]);
    expect(fused.map(({ url }) => url)).toEqual([
      "https://a.pub/",
      "https://c.pub/",
      "https://b.pub/",
      "https://d.pub/",
    ]);
  });

  it("gives one host two places, more only where places would stay empty", () => {
    const hits = fuse([
      {
        name: "one",
        weight: 1,
        hits: [
          hit("https://a.pub/1"),
          hit("https://a.pub/2"),
          hit("https://www.a.pub/3"),
          hit("https://b.pub/1"),
          hit("https://c.pub/1"),
        ],
      },
    ]);
    expect(limitHosts(hits, 4).map(({ url }) => url)).toEqual([
      "https://a.pub/1",
      "https://a.pub/2",
      "https://b.pub/1",
      "https://c.pub/1",
    ]);
    expect(limitHosts(hits, 5)).toHaveLength(5);
  });
});

describe("what is asked", () => {
  const ordinary = [
    "how do locks work in postgres",
    "best pizza in naples",
    "package holidays to greece",
    "who won the hacker competition",
    "news about hackers",
    "shnitzel recipe",
    "npmish words",
    "what is the registry office",
    "module theory in algebra",
    "install a kitchen sink",
    "node in graph theory",
    "react to an allergy",
    "express train to paris",
    "email me at me@example.org/contact",
    "john hn smithson's".replace(" hn ", " "),
    "vue from the mountain",
    "angular momentum",
    "how to pack a parcel",
    "dependencies between variables",
    "yc application form",
    "show me the way",
    "ask a lawyer online",
    "javascript closures explained",
    "library opening hours",
    "semantic versioning of laws",
    "publish a book",
    "what does left pad mean",
    "download speed test",
    "weather @home",
    "2/3 as a decimal",
    "and/or in legal writing",
    "the hacker manifesto",
    "news from nature",
    "python package index",
    "cargo ship tracking",
    "chalk cliffs of dover",
    "commander in chief",
    "lodash of snow",
    "webpack weight limit hiking",
    "technical news today",
  ];
  it("40 ordinary sentences go neither to npm nor to Hacker News", () => {
    expect(ordinary).toHaveLength(40);
    for (const query of ordinary)
      expect([isMeant("npm", query), isMeant("hackernews", query)], query).toEqual([false, false]);
  });

  it("words that mean them do", () => {
    for (const query of ["npm retry library", "use NPM, please", "@scope/name readme", "what is @types/node"])
      expect(isMeant("npm", query), query).toBe(true);
    for (const query of ["hacker news about rust", "best of HN", "hn: who is hiring"])
      expect(isMeant("hackernews", query), query).toBe(true);
  });

  it("takes the language from the script", () => {
    expect(
      ["数据库 锁", "データベースのロック", "漢字とかな", "데이터베이스", "блокировки", "postgres locks"].map(
        languageOf,
      ),
    ).toEqual(["zh", "ja", "ja", "ko", "ru", "en"]);
  });
});
