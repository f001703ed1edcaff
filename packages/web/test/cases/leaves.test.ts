import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { pageOf, type TestWeb, testWeb } from "../web-world.ts";

const page = `<main><h1>Guide</h1>${"<p>A page with links and pictures that nobody asked for, read as what it is.</p>".repeat(4)}
  <img src="http://pictures.pub/a.png"><a href="http://else.pub/">more</a><link rel="preload" href="http://fonts.pub/f.woff2"></main>`;

/** A world where one place gives a page and every look-up and connection is on record. */
async function setting(): Promise<TestWeb> {
  const test = await testWeb();
  test.world.on("http://s.pub/", page);
  return test;
}

const hosts = (test: TestWeb): string[] => [...new Set(test.world.seen.map(({ url }) => new URL(url).host))];
const names = (test: TestWeb): string[] => [...new Set(test.world.dns.queries.map(({ name }) => name))];

describe("what leaves with default options", () => {
  it.each([
    ["web_read", {}],
    ["web_fetch", {}],
    ["web_fetch", { format: "html" }],
    ["web_fetch", { format: "json" }],
    ["web_fetch", { engine: "reader", format: "text" }],
  ])("%s %j asks the target and nobody else", async (tool, more) => {
    const test = await setting();
    await test.call(tool, { url: "http://s.pub/", ...more });
    expect(hosts(test)).toEqual(["s.pub"]);
    expect(names(test)).toEqual(["s.pub"]);
    expect(test.world.dialled).toHaveLength(1);
    expect(test.world.private.connections).toEqual([]);
  });

  it("download_file asks the target and nobody else", async () => {
    const test = await setting();
    const { directory, remove } = await tempWorkspace();
    onTestFinished(remove);
    const result = await test.call("download_file", { url: "http://s.pub/", path: "page.html" }, { directory });
    expect(result.ok, result.text).toBe(true);
    expect(hosts(test)).toEqual(["s.pub"]);
    expect(test.world.dialled).toHaveLength(1);
  });

  it("a failing page is not asked for anywhere else, and no engine but the named one is tried", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/", (_request, response) => response.writeHead(403).end("no"));
    for (const engine of ["default", "reader"])
      expect((await test.fetch("http://s.pub/", { engine })).ok, engine).toBe(false);
    expect(hosts(test)).toEqual(["s.pub"]);
    expect(names(test)).toEqual(["s.pub"]);
  });

  it("a second part comes from memory", async () => {
    const test = await testWeb();
    test.world.on(
      "http://s.pub/long",
      `<main>${Array.from({ length: 60 }, (_, at) => `<p>${at} ${"word ".repeat(200)}</p>`).join("")}</main>`,
    );
    const first = pageOf(await test.call("web_read", { url: "http://s.pub/long" }));
    expect(first.data.nextOffset).toBeGreaterThan(0);
    await test.call("web_read", { url: "http://s.pub/long", offset: first.data.nextOffset });
    expect(test.world.seen).toHaveLength(1);
  });
});
