import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { fakeClock } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { version } from "../src/version.ts";
import { failure, testNet, textOf } from "./world.ts";

describe("robots files", () => {
  it("are respected when asked for, once an hour, through the gate", async () => {
    const clock = fakeClock();
    const { world, net } = await testNet({ robots: "respect", clock, userAgent: "reader/1.0" });
    world.on("http://s.pub/robots.txt", "User-agent: *\nDisallow: /private/\n");
    world.on("http://s.pub/open", "open");
    const asked: string[] = [];
    const scope = { ask: async ({ resources }: { resources: readonly string[] }) => void asked.push(...resources) };
    await (await net.request({ url: "http://s.pub/open" }, scope)).discard();
    expect(asked).toEqual(["http://s.pub:80/open", "http://s.pub:80/robots.txt"]);
    const error = await failure(() => net.request({ url: "http://s.pub/private/x" }, {}));
    expect(error).toMatchObject({ code: "denied", details: { rule: "robots" } });
    expect(world.seen.filter(({ url }) => url.endsWith("robots.txt"))).toHaveLength(1);
    clock.advance(3_600_001);
    expect(await textOf(net, "http://s.pub/open")).toBe("open");
    expect(world.seen.filter(({ url }) => url.endsWith("robots.txt"))).toHaveLength(2);
  });

  it("that are missing allow, that fail refuse", async () => {
    const { world, net } = await testNet({ robots: "respect" });
    world.on("http://a.pub/x", "a");
    world.on("http://b.pub/x", "b");
    world.on("http://b.pub/robots.txt", (_request, response) => response.writeHead(500).end());
    expect(await textOf(net, "http://a.pub/x")).toBe("a");
    expect(await failure(() => net.request({ url: "http://b.pub/x" }, {}))).toMatchObject({
      code: "denied",
      details: { rule: "robots" },
    });
    expect(world.seen.some(({ url }) => url === "http://b.pub/x")).toBe(false);
  });

  it("are not asked for when off", async () => {
    const { world, net } = await testNet();
    world.on("http://a.pub/x", "a");
    expect(await textOf(net, "http://a.pub/x")).toBe("a");
    expect(world.seen).toHaveLength(1);
  });
});

describe("ranges", () => {
  const whole = "0123456789";

  it("goes on where it was, or starts over when the validator has changed", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/file", (request, response) =>
      request.headers["if-range"] === '"v1"'
        ? response.writeHead(206, { "content-range": "bytes 4-9/10" }).end(whole.slice(4))
        : response.end(whole),
    );
    for (const [validator, status, text] of [
      ['"v1"', 206, "456789"],
      ['"v2"', 200, whole],
    ] as const) {
      const response = await net.request({ url: "http://s.pub/file", range: { start: 4, validator } }, {});
      expect([response.status, new TextDecoder().decode(await response.bytes())]).toEqual([status, text]);
    }
    expect(world.seen[0]?.headers).toMatchObject({
      range: "bytes=4-",
      "if-range": '"v1"',
      "accept-encoding": "identity",
    });
  });

  it("takes 416 with the full size for complete and refuses a part that does not fit", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/done", (_request, response) =>
      response.writeHead(416, { "content-range": "bytes */10" }).end(),
    );
    const done = await net.request({ url: "http://s.pub/done", range: { start: 10, validator: '"v1"' } }, {});
    expect(done.notes.map(({ code }) => code)).toEqual(["range_complete"]);
    await done.discard();
    for (const contentRange of ["bytes 5-9/10", "bytes 4-", "none"]) {
      world.on("http://s.pub/odd", (_request, response) =>
        response.writeHead(206, { "content-range": contentRange }).end("x"),
      );
      expect(
        await failure(() => net.request({ url: "http://s.pub/odd", range: { start: 4, validator: '"v1"' } }, {})),
        contentRange,
      ).toMatchObject({ code: "upstream" });
    }
  });
});

describe("requests", () => {
  it("joins repeated headers, set-cookie by line, and keeps no cookie", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (_request, response) =>
      response
        .writeHead(
          200,
          [
            ["Set-Cookie", "a=1"],
            ["Set-Cookie", "b=2"],
            ["X-Many", "1"],
            ["X-Many", "2"],
          ].flat(),
        )
        .end(),
    );
    const response = await net.request({ url: "http://s.pub/" }, {});
    expect([response.headers.get("set-cookie"), response.headers.get("x-many")]).toEqual(["a=1\nb=2", "1, 2"]);
    await response.discard();
    await (await net.request({ url: "http://s.pub/" }, {})).discard();
    expect(world.seen[1]?.headers.cookie).toBeUndefined();
  });

  it("sends every method with its body once", async () => {
    const { world, net } = await testNet();
    world.on("http://s.pub/", (request, response) => request.pipe(response));
    for (const method of ["POST", "put", "PATCH", "DELETE"]) {
      const response = await net.request({ url: "http://s.pub/", method, body: "bödy" }, {});
      expect(new TextDecoder().decode(await response.bytes())).toBe("bödy");
    }
    expect(world.seen.map(({ method }) => method)).toEqual(["POST", "PUT", "PATCH", "DELETE"]);
  });

  it("builds the path from the parsed URL only", async () => {
    const { world, net } = await testNet();
    world.on("s.pub/*", "ok");
    expect(await textOf(net, "http://s.pub/a/../b/./c d?q=ü&x=1 2#frag")).toBe("ok");
    expect(world.seen[0]?.url).toBe("http://s.pub/b/c%20d?q=%C3%BC&x=1%202");
  });
});

describe("the package", () => {
  const root = fileURLToPath(new URL("..", import.meta.url));

  it("tells its own version", () => {
    expect(JSON.parse(readFileSync(`${root}package.json`, "utf8"))).toMatchObject({ version });
  });

  it.skipIf(!existsSync(`${root}dist/index.js`))(
    "loads nothing heavy and opens nothing on import, and leaves nothing after close",
    async () => {
      const program = `
      const before = process.getActiveResourcesInfo().length;
      const { createNet } = await import("@toolhaft/net");
      const heavy = process.moduleLoadList.filter((name) => /tls|dns\\/promises$|undici/.test(name) && !/internal/.test(name));
      const net = createNet({ allow: ["127.0.0.1"], minIntervalMs: 0 });
      const { createServer } = await import("node:http");
      const server = createServer((request, response) => response.end("x"));
      await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
      const response = await net.request({ url: "http://127.0.0.1:" + server.address().port + "/" }, {});
      await response.bytes();
      await net.close();
      await new Promise((resolve) => server.close(resolve));
      console.log(JSON.stringify({ heavy }));
    `;
      const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", program], {
        cwd: root,
        timeout: 60_000,
      });
      // The process ended by itself: no timer, socket or thread was left.
      expect(JSON.parse(stdout).heavy.filter((name: string) => /tls/i.test(name))).toEqual([]);
    },
  );
});
