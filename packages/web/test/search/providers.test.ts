import { createServer } from "node:http";
import { systemClock } from "@toolhaft/core";
import { createNet } from "@toolhaft/net";
import { startWebWorld, type WebWorld } from "@toolhaft/testing/web-world";
import { describe, expect, it, onTestFinished } from "vitest";
import { type ProviderScope, type SearchQuery, searxng } from "../../src/index.ts";
import { formOf, unwrapTarget } from "../../src/search/providers/duckduckgo.ts";
import { worldNet } from "../web-world.ts";
import { backEnds, duckPage, duckRow } from "./back-ends.ts";

const query: SearchQuery = { query: "postgres advisory locks", limit: 5, language: "en" };

async function backEndWorld(): Promise<{ world: WebWorld; scope: ProviderScope }> {
  const world = await startWebWorld();
  const net = createNet(worldNet(world));
  onTestFinished(async () => {
    await net.close();
    await world.close();
  });
  return { world, scope: { net, clock: systemClock } };
}

describe.each(backEnds)("contract of $name", (backEnd) => {
  const provider = () => backEnd.make(backEnd.needsKey ? "secret-key-0123456789" : undefined);

  async function answered(status: number, body: string, headers: Record<string, string> = {}) {
    const { world, scope } = await backEndWorld();
    for (const place of [backEnd.place, backEnd.place.replace("/html/", "/lite/")]) {
      world.on(place, (_request, response) =>
        response.writeHead(status, { "content-type": backEnd.contentType, ...headers }).end(body),
      );
    }
    return { world, answer: await provider().search(query, scope) };
  }

  it("gives hits in order, as plain text, with dates where they are told", async () => {
    const { world, answer } = await answered(200, backEnd.ok);
    expect(answer.status, JSON.stringify(answer)).toBe("ok");
    if (answer.status !== "ok") return;
    expect(answer.results.map(({ url }) => url)).toEqual(["https://one.pub/", "https://two.pub/"]);
    expect(answer.results[0]?.title).toMatch(/^one/i);
    expect(answer.results[0]?.snippet).toBe("first snippet");
    if (backEnd.dates) expect(answer.results[0]?.published).toMatch(/^2026-01-0[12]T/);
    expect(world.seen.every(({ url }) => !url.includes("secret-key"))).toBe(true);
  });

  it("tells nothing found from failure", async () => {
    expect((await answered(200, backEnd.empty)).answer).toMatchObject({ status: "empty", results: [] });
  });

  it.each([
    [429, "rate_limited"],
    [503, "rate_limited"],
    [402, "rate_limited"],
    [401, "auth_required"],
    [403, "blocked"],
    [500, "error"],
  ])("names status %i %s", async (status, expected) => {
    const { answer } = await answered(status, "<html><body>no, secret-key-0123456789 is bad</body></html>", {
      "retry-after": "7",
    });
    expect(answer.status).toBe(expected);
    if (backEnd.needsKey) expect(JSON.stringify(answer)).not.toContain("secret-key-0123456789");
    if (status === 429) expect(answer).toMatchObject({ retryAfterMs: 7_000 });
  });

  it("takes an answer of another shape for an error", async () => {
    for (const body of backEnd.json
      ? ["<html><body>captcha</body></html>", '{"surprise": tru', "[]"]
      : ["<html><body>hello</body></html>", ""]) {
      expect((await answered(200, body)).answer, body).toMatchObject({ status: "error" });
    }
  });

  it("throws for a cut body and for an abort, as the caller maps it", async () => {
    const { world, scope } = await backEndWorld();
    const host = new URL(backEnd.place).hostname;
    await world.raw(host, (socket) => socket.once("data", () => undefined));
    const controller = new AbortController();
    const call = provider().search(query, { ...scope, signal: controller.signal });
    call.catch(() => undefined);
    await expect.poll(() => world.sockets.size).toBe(1);
    controller.abort();
    await expect(call).rejects.toMatchObject({ code: "cancelled" });
  });

  if (!backEnd.needsKey) return;
  it("names what is missing without a key and asks nobody", async () => {
    const { world, scope } = await backEndWorld();
    const variable = `${backEnd.name.toUpperCase()}_API_KEY`;
    const kept = process.env[variable];
    delete process.env[variable];
    onTestFinished(() => {
      if (kept !== undefined) process.env[variable] = kept;
    });
    const answer = await backEnd.make().search(query, scope);
    expect(answer).toMatchObject({ status: "auth_required" });
    expect(answer.message).toContain(variable);
    expect(answer.message).toContain(`${backEnd.name}({ apiKey })`);
    expect(world.dns.queries).toEqual([]);
  });
});

describe("duckduckgo", () => {
  it("unwraps its three forms of links, once", () => {
    const target = "https%3A%2F%2Fx.pub%2F%3Fq%3Da%252Bb";
    for (const form of [
      `https://duckduckgo.com/l/?uddg=${target}`,
      `//duckduckgo.com/l/?uddg=${target}&rut=1`,
      `/l/?kh=-1&uddg=${target}`,
    ]) {
      expect(unwrapTarget(form), form).toBe("https://x.pub/?q=a%2Bb");
    }
  });

  it("drops advertising and takes a look-alike host for a site", () => {
    expect(unwrapTarget("https://duckduckgo.com/y.js?ad_domain=x.pub")).toBeUndefined();
    expect(unwrapTarget("//duckduckgo.com/l/?uddg=https%3A%2F%2Fduckduckgo.com%2Fy.js%3Fad")).toBeUndefined();
    expect(unwrapTarget("https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fx.pub%2F")).toBe(
      "https://notduckduckgo.com/l/?uddg=https%3A%2F%2Fx.pub%2F",
    );
    expect(unwrapTarget("https://duckduckgo.com.evil.pub/l/?uddg=https%3A%2F%2Fx.pub%2F")).toContain("evil.pub");
    expect(unwrapTarget("/l/?uddg=javascript%3Aalert(1)")).toBeUndefined();
    expect(unwrapTarget("/l/?uddg=%zz")).toBeUndefined();
  });

  it("counts no advertising row and keeps the snippets with their links", async () => {
    const { world, scope } = await backEndWorld();
    const [duck] = backEnds;
    const rows =
      duckRow("https://duckduckgo.com/y.js?ad", "Ad", "buy", "result results_links result--ad") +
      duckRow("https://duckduckgo.com/y.js?x=1", "Ad 2", "buy more") +
      duckRow("/l/?uddg=https%3A%2F%2Fone.pub%2F", "One &amp; only", "its snippet");
    world.on("http://duck.pub/html/", (_request, response) => response.end(duckPage(rows)));
    expect(await duck?.make().search(query, scope)).toEqual({
      status: "ok",
      results: [{ title: "One & only", url: "https://one.pub/", snippet: "its snippet" }],
    });
  });

  it("asks the lite page when it is blocked, and takes a 202 challenge for a rate limit", async () => {
    const { world, scope } = await backEndWorld();
    const [duck] = backEnds;
    const challenge =
      '<html><body><form id="challenge-form" action="//duckduckgo.com/anomaly.js"></form></body></html>';
    world.on("http://duck.pub/html/", (_request, response) =>
      response.writeHead(202, { "content-type": "text/html" }).end(challenge),
    );
    world.on("http://duck.pub/lite/", (_request, response) =>
      response.end(
        `<table><tr><td>1.</td><td><a class='result-link' href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.pub%2F">One</a></td></tr><tr><td></td><td class='result-snippet'>from lite</td></tr></table>`,
      ),
    );
    expect(await duck?.make().search(query, scope)).toEqual({
      status: "ok",
      results: [{ title: "One", url: "https://one.pub/", snippet: "from lite" }],
    });
    world.on("http://duck.pub/lite/", (_request, response) => response.writeHead(202).end(challenge));
    expect(await duck?.make().search(query, scope)).toMatchObject({ status: "rate_limited" });
  });

  it("sends query, site, region and age in the form", () => {
    expect(
      Object.fromEntries(new URLSearchParams(formOf({ ...query, language: "de", site: "x.pub", since: "week" }))),
    ).toEqual({ q: "postgres advisory locks site:x.pub", kl: "de-de", df: "w" });
    expect(new URLSearchParams(formOf({ ...query, language: "fr-CA" })).get("kl")).toBe("ca-fr");
  });
});

describe("wikipedia", () => {
  const [, wiki] = backEnds;

  it("asks the edition of the language with a contact in the user agent", async () => {
    const { world, scope } = await backEndWorld();
    world.on("http://zh.wiki.pub/w/api.php", '{"batchcomplete":true}');
    await wiki?.make().search({ ...query, language: "zh-TW" }, scope);
    expect(world.seen[0]?.url).toMatch(/^http:\/\/zh\.wiki\.pub\/.*gsrsearch=postgres/);
    expect(world.seen[0]?.headers["user-agent"]).toMatch(/https:\/\//);
  });

  it("takes an error with status 200 for one, and decodes marks", async () => {
    const { world, scope } = await backEndWorld();
    world.on("http://en.wiki.pub/w/api.php", '{"error":{"code":"ratelimited","info":"slow down"}}');
    expect(await wiki?.make().search(query, scope)).toMatchObject({ status: "rate_limited" });
    world.on("http://en.wiki.pub/w/api.php", '{"error":{"code":"badvalue","info":"no"}}');
    expect(await wiki?.make().search(query, scope)).toMatchObject({ status: "error" });
    world.on(
      "http://en.wiki.pub/w/api.php",
      JSON.stringify({
        query: {
          pages: [
            {
              title: "A &amp; B",
              index: 1,
              snippet: '&quot;<span class="searchmatch">lock</span>&quot;',
              canonicalurl: "https://one.pub/",
            },
          ],
        },
      }),
    );
    expect(await wiki?.make().search(query, scope)).toMatchObject({ results: [{ title: "A & B", snippet: '"lock"' }] });
  });
});

describe("npm", () => {
  const npmBackEnd = backEnds.find(({ name }) => name === "npm");

  it("asks a mirror without search for the exact package, scoped names too", async () => {
    const { world, scope } = await backEndWorld();
    world.on("npm.pub/*", (request, response) =>
      request.url?.startsWith("/@scope%2fname") === true
        ? response.end(
            JSON.stringify({
              name: "@scope/name",
              description: "exact",
              "dist-tags": { latest: "2.0.0" },
              time: { "2.0.0": "2026-01-02T00:00:00Z" },
            }),
          )
        : response.writeHead(404).end("not here"),
    );
    expect(await npmBackEnd?.make().search({ ...query, query: "npm @scope/name" }, scope)).toEqual({
      status: "ok",
      results: [
        {
          title: "@scope/name 2.0.0",
          url: "https://www.npmjs.com/package/@scope/name",
          snippet: "exact",
          published: "2026-01-02T00:00:00.000Z",
        },
      ],
    });
    expect(await npmBackEnd?.make().search({ ...query, query: "npm unknown" }, scope)).toEqual({
      status: "empty",
      results: [],
    });
    expect(await npmBackEnd?.make().search({ ...query, query: "many words here" }, scope)).toMatchObject({
      status: "error",
    });
  });
});

describe("hackernews", () => {
  it("links a story without URL to its page and gives a comment a title", async () => {
    const { world, scope } = await backEndWorld();
    world.on(
      "http://hn.pub/api/v1/search",
      JSON.stringify({
        hits: [
          { objectID: "7", title: "Ask HN", url: null, story_text: "<p>Why &amp; how</p>", points: 3, num_comments: 4 },
          { objectID: "8", title: null, story_title: null, comment_text: "a comment", url: "" },
        ],
      }),
    );
    const answer = await backEnds
      .find(({ name }) => name === "hackernews")
      ?.make()
      .search({ ...query, since: "week" }, scope);
    expect(answer).toMatchObject({
      results: [{ url: "https://news.ycombinator.com/item?id=7", snippet: "Why & how" }, { title: "a comment" }],
    });
    expect(world.seen[0]?.url).toMatch(/numericFilters=created_at_i/);
  });
});

describe("jina", () => {
  const jinaBackEnd = backEnds.find(({ name }) => name === "jina");

  it("reads the numbered text form, and one refused key does not switch it off", async () => {
    const { world, scope } = await backEndWorld();
    let calls = 0;
    world.on("http://jina.pub/", (_request, response) => {
      calls += 1;
      if (calls === 1) return response.writeHead(401).end("bad key");
      return response
        .writeHead(200, { "content-type": "text/plain" })
        .end(
          "[1] Title: One\n[1] URL Source: https://one.pub/\n[1] Description: first\n[1] Date: Jan 2, 2026\n\n[2] Title: Two\n[2] URL Source: https://two.pub/\n[2] Description: second\n",
        );
    });
    const provider = jinaBackEnd?.make("k");
    expect(await provider?.search(query, scope)).toMatchObject({ status: "auth_required" });
    expect(await provider?.search(query, scope)).toMatchObject({
      status: "ok",
      results: [{ title: "One", url: "https://one.pub/", snippet: "first" }, { url: "https://two.pub/" }],
    });
  });
});

describe("searxng", () => {
  it("is reached on loopback by its own option, and says when JSON is off and which engines were silent", async () => {
    let status = 200;
    const server = createServer((request, response) => {
      const { searchParams } = new URL(request.url ?? "/", "http://x");
      if (status !== 200) return response.writeHead(status).end("forbidden");
      return response.end(
        JSON.stringify({
          results: [
            {
              title: "One",
              url: "https://one.pub/",
              content: searchParams.get("q"),
              publishedDate: "2026-01-02T00:00:00",
            },
            { title: "bad", url: "javascript:x" },
          ],
          unresponsive_engines: [["google", "timeout"]],
        }),
      );
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const { scope } = await backEndWorld();
    onTestFinished(() => void server.close());
    const provider = searxng({ baseUrl: `http://127.0.0.1:${port}` });
    expect(await provider.search({ ...query, site: "one.pub" }, scope)).toMatchObject({
      status: "ok",
      results: [{ title: "One", url: "https://one.pub/", snippet: "postgres advisory locks site:one.pub" }],
      message: "no answer from google (timeout)",
    });
    status = 403;
    expect(await provider.search(query, scope)).toMatchObject({
      status: "blocked",
      message: expect.stringContaining("settings.yml"),
    });
    server.closeAllConnections();
  });
});
