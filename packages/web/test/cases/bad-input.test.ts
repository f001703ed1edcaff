import { describe, expect, it } from "vitest";
import { failureOf, pageOf, testWeb } from "../web-world.ts";

describe("url", () => {
  it.each([
    ["example.com", "https://example.com/"],
    ["//example.com/a", "https://example.com/a"],
    ["//x", undefined],
    ["", undefined],
    [`http://s.pub/${"a".repeat(9_000)}`, undefined],
    ["ftp://s.pub/x", undefined],
    ["file:///etc/passwd", undefined],
    ["http://user:pw@s.pub/", "http://s.pub/"],
    ["http://s.pub:25/", undefined],
  ])("%s is invalid", async (url, better) => {
    const test = await testWeb();
    for (const tool of ["web_read", "web_fetch"]) {
      const failure = failureOf(await test.call(tool, { url }));
      expect(failure.code).toBe("invalid_input");
      if (better !== undefined) expect(failure.hint).toContain(better);
      expect(failure.text).not.toContain("pw@");
    }
    expect(test.world.dns.queries).toEqual([]);
  });

  it("with a space, an international host, upper case, default port or fragment is normalised", async () => {
    const test = await testWeb({ world: { zone: [["xn--bcher-kva.pub", ["203.0.113.10"]]] } });
    test.world.on("s.pub/*", "ok");
    test.world.on("xn--bcher-kva.pub/*", "ok");
    for (const url of [
      "http://s.pub/a b",
      "HTTP://S.PUB/x",
      "http://s.pub:80/",
      "http://s.pub/#part",
      "http://bücher.pub/",
    ]) {
      expect(pageOf(await test.fetch(url)).data.content, url).toBe("ok");
    }
    expect(test.world.seen.every(({ url }) => !url.includes("#"))).toBe(true);
    expect(test.world.seen[0]?.url).toBe("http://s.pub/a%20b");
  });
});

describe("headers", () => {
  it.each([
    ["Host", { Host: "secret-value" }],
    ["a line break", { "x-own": "secret-value\r\nx: y" }],
    ["two spellings", { accept: "secret-value", Accept: "secret-value" }],
    ["a number", { "x-own": 5 }],
  ])("%s is refused and the value not repeated", async (_what, headers) => {
    const test = await testWeb();
    const failure = failureOf(await test.fetch("http://s.pub/", { headers }));
    expect(failure.code).toBe("invalid_input");
    expect(failure.text).toMatch(/host|x-own|accept/i);
    expect(failure.text).not.toContain("secret-value");
    expect(test.world.dns.queries).toEqual([]);
  });
});

describe("numbers and words", () => {
  it.each([
    ["web_fetch", { url: "http://s.pub/", max_size: 1_023 }],
    ["web_fetch", { url: "http://s.pub/", max_size: 5_242_881 }],
    ["web_fetch", { url: "http://s.pub/", timeout: 0 }],
    ["web_fetch", { url: "http://s.pub/", timeout: 121 }],
    ["web_fetch", { url: "http://s.pub/", offset: -1 }],
    ["web_fetch", { url: "http://s.pub/", format: "pdf" }],
    ["web_fetch", { url: "http://s.pub/", engine: "lynx" }],
    ["web_fetch", { url: "http://s.pub/", formatt: "text" }],
    ["web_read", { url: "http://s.pub/", engine: "jina" }],
    ["web_read", { url: "http://s.pub/", offset: 1.5 }],
    ["web_search", { query: "x", max_results: 11 }],
    ["web_search", { query: "x", max_results: 0 }],
    ["web_search", { query: "" }],
    ["web_search", { query: "  \n " }],
    ["web_search", { query: "x".repeat(501) }],
    ["web_search", { query: "x", since: "decade" }],
  ])("%s %j", async (tool, input) => {
    const test = await testWeb();
    expect(failureOf(await test.call(tool, input)).code).toBe("invalid_input");
    expect(test.world.dns.queries).toEqual([]);
  });
});

describe("what a server may send", () => {
  it("no type and no length are sniffed and fine", async () => {
    const test = await testWeb();
    await test.world.raw("bare.pub", (socket) =>
      socket.once("data", () =>
        socket.end("HTTP/1.1 200 OK\r\n\r\n<!doctype html><p>one paragraph of text, without any type"),
      ),
    );
    expect(pageOf(await test.fetch("http://bare.pub/", { selector: "body" })).data.content).toContain("one paragraph");
  });

  it.each([
    ["HTTP/0.9", "<p>no head"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"],
    ["a flood of 1xx", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(9)],
  ])("%s is an upstream failure", async (_what, bytes) => {
    const test = await testWeb();
    await test.world.raw("odd.pub", (socket) => socket.once("data", () => socket.end(bytes)));
    expect(failureOf(await test.fetch("http://odd.pub/")).code).toBe("upstream");
  });
});

describe("formats that a kind cannot give", () => {
  const places = {
    json: ["application/json", '{"a":1}'],
    text: ["text/plain", "plain words"],
    zip: ["application/octet-stream", "PK\u0003\u0004binary\u0000\u0001"],
  } as const;
  it.each([
    ["json", "html", "unsupported"],
    ["text", "json", "unsupported"],
    ["text", "html", "unsupported"],
    ["zip", "auto", "unsupported"],
    ["zip", "markdown", "unsupported"],
  ] as const)("%s as %s", async (kind, format, code) => {
    const test = await testWeb();
    const [type, body] = places[kind];
    test.world.on("http://s.pub/", (_request, response) => response.writeHead(200, { "content-type": type }).end(body));
    expect(failureOf(await test.fetch("http://s.pub/", { format })).code).toBe(code);
  });

  it("raw of a 6 MB image is too large", async () => {
    const test = await testWeb();
    const png = Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), Buffer.alloc(6 * 1024 * 1024)]);
    test.world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-type": "image/png" }).end(png),
    );
    expect(failureOf(await test.fetch("http://s.pub/", { format: "raw" })).code).toBe("too_large");
  });

  it.each([">>", ":contains(", "a".repeat(10_241)])("the selector %j is refused", async (selector) => {
    const test = await testWeb();
    test.world.on("http://s.pub/", "<p>text");
    const failure = failureOf(await test.fetch("http://s.pub/", { selector }));
    expect(failure.code).toBe("invalid_input");
  });

  it("a selector on JSON is unsupported, one that matches nothing is not found", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/json", (_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end("{}"),
    );
    test.world.on("http://s.pub/page", '<main id="here"><p>text');
    expect(failureOf(await test.fetch("http://s.pub/json", { selector: "a" })).code).toBe("unsupported");
    expect(failureOf(await test.fetch("http://s.pub/page", { selector: "#gone" })).code).toBe("not_found");
  });
});
