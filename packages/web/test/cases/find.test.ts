import { createServer } from "node:http";
import { createPolicy } from "@toolhaft/core";
import { fakeClock } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { brave, type RawHit, type SearchProvider, type SourceAnswer, searxng, type Web } from "../../src/index.ts";
import { backEnds, duckPage, duckRow } from "../search/back-ends.ts";
import { failureOf, type TestWeb, type TestWebOptions, testWeb } from "../web-world.ts";

interface Found {
  results: { url: string; title: string; snippet: string; sources: { name: string; rank: number }[] }[];
  sources: { name: string; status: string; count: number; retryAfterMs?: number; message?: string }[];
}

const make = (name: string): SearchProvider => {
  const backEnd = backEnds.find((each) => each.name === name);
  return backEnd === undefined ? expect.fail(name) : backEnd.make("key-0123456789");
};
const free = (): SearchProvider[] => ["duckduckgo", "wikipedia", "npm", "hackernews"].map(make);

const searchWeb = (options: TestWebOptions = {}): Promise<TestWeb> =>
  testWeb({ search: { providers: free() }, ...options });

async function found(test: TestWeb, input: Record<string, unknown>): Promise<Found & { text: string }> {
  const result = await test.call("web_search", input);
  return result.ok ? { ...(result.data as Found), text: result.text } : expect.fail(result.text);
}

const duck = (test: TestWeb, rows: string): void =>
  test.world.on("http://duck.pub/html/", (_request, response) => response.end(duckPage(rows)));
const wiki = (test: TestWeb, pages: { title: string; url: string; text?: string }[], edition = "en"): void =>
  test.world.on(
    `http://${edition}.wiki.pub/w/api.php`,
    JSON.stringify({
      query: {
        pages: pages.map(({ title, url, text }, index) => ({
          title,
          index: index + 1,
          extract: text ?? "",
          canonicalurl: url,
        })),
      },
    }),
  );

describe("find", () => {
  it("find-1: a challenge beside an empty source is an error with both states", async () => {
    const test = await searchWeb();
    for (const page of ["html", "lite"])
      test.world.on(`http://duck.pub/${page}/`, (_request, response) =>
        response.writeHead(202).end('<form id="challenge-form"></form>'),
      );
    wiki(test, []);
    const failure = failureOf(await test.call("web_search", { query: "locks" }));
    expect(failure.code).toBe("unavailable");
    expect(failure.text).toMatch(/no results from wikipedia; failed: duckduckgo rate limited/);
    expect(failure.details).toMatchObject({
      sources: [
        { name: "duckduckgo", status: "rate_limited" },
        { name: "wikipedia", status: "empty" },
      ],
    });
  });

  it("find-2, find-3: targets are unwrapped, decoded once", async () => {
    const test = await searchWeb();
    const target = "https%3A%2F%2Fx.pub%2F%3Fq%3Da%252Bb";
    duck(
      test,
      duckRow(`//duckduckgo.com/l/?uddg=${target}`, "One", "s") +
        duckRow("/l/?kh=-1&amp;uddg=https%3A%2F%2Fy.pub%2F", "Two", "s"),
    );
    wiki(test, []);
    expect((await found(test, { query: "locks" })).results.map(({ url }) => url)).toEqual([
      "https://x.pub/?q=a%2Bb",
      "https://y.pub/",
    ]);
  });

  it("find-4: an ordinary sentence asks neither npm nor Hacker News", async () => {
    const test = await searchWeb();
    duck(test, duckRow("https://x.pub/", "One", "s"));
    wiki(test, []);
    const { sources, text } = await found(test, { query: "how do locks work in postgres" });
    expect(sources.map(({ name }) => name)).toEqual(["duckduckgo", "wikipedia"]);
    expect(test.world.seen.some(({ url }) => /npm|hn/.test(new URL(url).host))).toBe(false);
    expect(text.split("\n")[0]).toBe('1 result for "how do locks work in postgres" (duckduckgo ok 1, wikipedia none)');
    expect(text).toContain('read one: web_read {"url": "…"}');
  });

  it("find-5: marks and entities of a snippet are decoded", async () => {
    const test = await searchWeb();
    duck(test, '<div class="no-results"></div>');
    test.world.on(
      "http://en.wiki.pub/w/api.php",
      JSON.stringify({
        query: {
          pages: [
            {
              title: "Lock",
              index: 1,
              snippet: '&quot;<span class="searchmatch">lock</span>&quot;',
              canonicalurl: "https://w.pub/Lock",
            },
          ],
        },
      }),
    );
    expect((await found(test, { query: "lock" })).results[0]?.snippet).toBe('"lock"');
  });

  it("find-6: one page from two sources is one result that names both", async () => {
    const test = await searchWeb();
    duck(test, duckRow("http://www.x.pub/a/?utm_source=z", "A", "short"));
    wiki(test, [{ title: "A", url: "https://x.pub/a", text: "a longer snippet" }]);
    const { results } = await found(test, { query: "a" });
    expect(results).toHaveLength(1);
    expect(results[0]).toMatchObject({
      url: "https://x.pub/a",
      snippet: "a longer snippet",
      sources: [
        { name: "duckduckgo", rank: 1 },
        { name: "wikipedia", rank: 1 },
      ],
    });
  });

  it("find-7: a rate limit without a usable time is waited out by default, and the next call skips the source", async () => {
    const clock = fakeClock();
    const test = await searchWeb({ clock });
    test.world.on("npm.pub/*", (_request, response) =>
      response.writeHead(429, { "content-type": "text/html", "retry-after": "0" }).end("<h1>Too many</h1>"),
    );
    const failure = failureOf(await test.call("web_search", { query: "retry", source: "npm" }));
    expect(failure).toMatchObject({ code: "unavailable", details: { retryAfterMs: 60_000 } });
    const asked = test.world.seen.length;
    expect(failureOf(await test.call("web_search", { query: "retry", source: "npm" })).details).toMatchObject({
      sources: [{ status: "rate_limited" }],
    });
    expect(test.world.seen).toHaveLength(asked);
    clock.advance(60_001);
    test.world.on("npm.pub/*", '{"objects":[]}');
    expect((await found(test, { query: "retry", source: "npm" })).results).toEqual([]);
  });

  it("find-8: a Chinese query asks the Chinese edition", async () => {
    const test = await searchWeb();
    wiki(test, [{ title: "锁", url: "https://w.pub/锁" }], "zh");
    duck(test, '<div class="no-results"></div>');
    expect((await found(test, { query: "数据库 锁" })).results[0]?.title).toBe("锁");
    wiki(test, [{ title: "Sperre", url: "https://w.pub/Sperre" }], "de");
    expect((await found(test, { query: "locks", language: "de-AT" })).results[0]?.title).toBe("Sperre");
  });
});

/** A provider whose answer the test sets. */
function fixed(
  name: string,
  answer: SourceAnswer | (() => Promise<SourceAnswer>),
  more: Partial<SearchProvider> = {},
): SearchProvider {
  return {
    name,
    general: true,
    supports: { language: true, site: true, since: true },
    search: async () => (typeof answer === "function" ? answer() : answer),
    ...more,
  };
}
const ok = (...urls: string[]): SourceAnswer => ({
  status: "ok",
  results: urls.map((url): RawHit => ({ title: url, url, snippet: "" })),
});
const empty: SourceAnswer = { status: "empty", results: [] };
const without = (...names: string[]): SearchProvider[] => names.map((name) => fixed(name, empty, { general: false }));

describe("failed is not empty", () => {
  const states = ["rate_limited", "auth_required", "timeout", "blocked", "error"] as const;
  it.each(states)("%s alone, beside nothing found, and beside hits", async (status) => {
    const failing = fixed("one", { status, message: "why" });
    const alone = await testWeb({ search: { providers: [failing, fixed("wikipedia", { status, message: "why" })] } });
    const both = failureOf(await alone.call("web_search", { query: "x" }));
    expect(both.code).toBe(status === "blocked" || status === "error" ? "upstream" : "unavailable");
    expect(both.text).toMatch(/every search source failed: one .*why.*; wikipedia .*why/);
    const beside = await testWeb({ search: { providers: [failing, ...without("wikipedia")] } });
    expect(failureOf(await beside.call("web_search", { query: "x" })).text).toContain(
      "no results from wikipedia; failed: one",
    );
    const hits = await testWeb({
      search: { providers: [failing, fixed("wikipedia", ok("https://a.pub/"), { general: false })] },
    });
    const { results, text } = await found(hits, { query: "x" });
    expect(results).toHaveLength(1);
    expect(text).toContain(`one ${status.replace("_", " ")}`);
  });

  it("nothing anywhere is a result", async () => {
    const test = await testWeb({ search: { providers: [fixed("one", empty), ...without("wikipedia")] } });
    expect((await found(test, { query: "x" })).text).toBe('No results for "x" (one none, wikipedia none)');
  });

  it("a source that cannot do what is asked for is left out and says so", async () => {
    const test = await testWeb({ search: { providers: [fixed("one", ok("https://a.pub/"))] } });
    const { sources } = await found(test, { query: "x", since: "week" });
    expect(sources).toMatchObject([
      { name: "one", status: "ok" },
      { name: "wikipedia", status: "unsupported" },
    ]);
    expect(failureOf(await test.call("web_search", { query: "x", since: "week", source: "wikipedia" })).code).toBe(
      "unsupported",
    );
  });

  it("a late source is a time-out and does not hold the others up", async () => {
    const never = fixed("one", () => new Promise<SourceAnswer>(() => undefined));
    const test = await testWeb({
      search: { providers: [never, fixed("wikipedia", ok("https://a.pub/"), { general: false })], timeoutMs: 300 },
    });
    const { results, sources } = await found(test, { query: "x" });
    expect(results).toHaveLength(1);
    expect(sources[0]).toMatchObject({ name: "one", status: "timeout" });
  });

  it("site keeps that host and those below it", async () => {
    const test = await testWeb({
      search: {
        providers: [
          fixed("one", ok("https://docs.a.pub/1", "https://nota.pub/", "https://a.pub/2", "https://www.a.pub/3")),
        ],
      },
    });
    expect((await found(test, { query: "x", site: "a.pub" })).results.map(({ url }) => url)).toEqual([
      "https://docs.a.pub/1",
      "https://a.pub/2",
      "https://www.a.pub/3",
    ]);
    for (const site of ["https://a.pub/path", "no host", "localhost"])
      expect(failureOf(await test.call("web_search", { query: "x", site })).code, site).toBe("invalid_input");
  });
});

describe("configuration", () => {
  it("a configured general engine takes DuckDuckGo's place in auto, and its key appears nowhere", async () => {
    const test = await testWeb({
      search: { providers: [brave({ baseUrl: "http://brave.pub", apiKey: "key-0123456789" }), make("wikipedia")] },
    });
    const backEnd = backEnds.find(({ name }) => name === "brave");
    test.world.on(backEnd?.place ?? "", backEnd?.ok ?? "");
    wiki(test, []);
    const { sources, text } = await found(test, { query: "x" });
    expect(sources.map(({ name }) => name)).toEqual(["brave", "wikipedia"]);
    expect(text).not.toContain("key-0123456789");
    expect(test.world.seen.find(({ url }) => url.includes("brave"))?.headers["x-subscription-token"]).toBe(
      "key-0123456789",
    );
  });

  it("an unknown source lists those that exist; one without key names variable and option", async () => {
    const test = await searchWeb();
    const unknown = failureOf(await test.call("web_search", { query: "x", source: "altavista" }));
    expect(unknown.code).toBe("invalid_input");
    expect(unknown.hint).toContain("wikipedia");
    delete process.env.JINA_API_KEY;
    const keyless = failureOf(await test.call("web_search", { query: "x", source: "jina" }));
    expect(keyless.code).toBe("unavailable");
    expect(keyless.text).toContain("JINA_API_KEY");
    expect(keyless.text).toContain("apiKey");
  });

  it("every provider asks the gate before it is connected to", async () => {
    const test = await searchWeb();
    const policy = createPolicy({
      rules: [
        { effect: "deny", permission: "net.fetch", resources: "duck.pub" },
        { effect: "allow", permission: "net.fetch" },
      ],
    });
    wiki(test, [{ title: "A", url: "https://x.pub/a" }]);
    const result = await test.call("web_search", { query: "x" }, { policy });
    expect(result.ok && (result.data as Found).sources[0]).toMatchObject({ name: "duckduckgo", status: "blocked" });
    expect(test.world.seen.some(({ url }) => url.includes("duck.pub"))).toBe(false);
  });

  it("local-4: a private SearXNG works as provider and stays refused as a page", async () => {
    const server = createServer((_request, response) =>
      response.end(JSON.stringify({ results: [{ title: "One", url: "https://one.pub/", content: "s" }] })),
    );
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const base = `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`;
    const test = await testWeb({ search: { providers: [searxng({ baseUrl: base }), ...without("wikipedia")] } });
    expect((await found(test, { query: "x" })).results[0]?.url).toBe("https://one.pub/");
    expect(failureOf(await test.call("web_read", { url: `${base}/` })).code).toBe("denied");
    server.closeAllConnections();
  });
});

describe("the family", () => {
  it("refuses two providers of one name", async () => {
    const { createWeb } = await import("../../src/index.ts");
    expect(() => createWeb({ search: { providers: [fixed("one", empty), fixed("one", empty)] } })).toThrow(/same name/);
  });

  it("opens nothing until it is called and closes without having been called", async () => {
    const { createWeb } = await import("../../src/index.ts");
    const web: Web = createWeb();
    expect(web.tools.map(({ name }) => name)).toEqual(["web_search", "web_read", "web_fetch", "download_file"]);
    await web.close();
  });
});
