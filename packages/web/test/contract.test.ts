import { createNet } from "@toolhaft/net";
import { testFamily } from "@toolhaft/testing";
import { startWebWorld } from "@toolhaft/testing/web-world";
import { afterAll } from "vitest";
import { createWeb, duckduckgo, wikipedia } from "../src/index.ts";
import { duckPage, duckRow } from "./search/back-ends.ts";
import { worldNet } from "./web-world.ts";

const world = await startWebWorld();
afterAll(() => world.close());

world.on(
  "http://s.pub/",
  "<main><h1>Guide</h1><p>A page with enough words in it to be read as what it is, a page of text.</p></main>",
);
world.on("http://s.pub/data", (_request, response) =>
  response.writeHead(200, { "content-type": "application/json" }).end('{"a":1}'),
);
world.on("http://duck.pub/html/", (_request, response) =>
  response.end(duckPage(duckRow("https://one.pub/", "One", "first"))),
);
world.on("http://en.wiki.pub/w/api.php", '{"batchcomplete":true}');

testFamily({
  golden: new URL("./golden/", import.meta.url),
  make: () => {
    const net = createNet(worldNet(world));
    const providers = [
      duckduckgo({ htmlUrl: "http://duck.pub/html/", liteUrl: "http://duck.pub/lite/", intervalMs: 0 }),
      wikipedia({ baseUrl: "http://{language}.wiki.pub/w/api.php" }),
    ];
    return createWeb({ net, worker: false, search: { providers } });
  },
  tools: {
    web_search: {
      valid: [{ title: "words", input: { query: "locks" } }],
      invalid: [
        { title: "blank", input: { query: "   " }, text: "blank" },
        { title: "501 characters", input: { query: "x".repeat(501) }, text: "query" },
        { title: "11 results", input: { query: "x", max_results: 11 }, text: "max_results" },
        { title: "no language", input: { query: "x", language: "deutsch, bitte" }, text: "language" },
        { title: "an unknown source", input: { query: "x", source: "gogle" }, text: "duckduckgo" },
      ],
      finer: ["query", "source", "site", "language"],
    },
    web_read: {
      valid: [{ title: "a page", input: { url: "http://s.pub/" } }],
      invalid: [
        { title: "no scheme", input: { url: "example.com" }, text: "https://example.com/" },
        { title: "a negative offset", input: { url: "http://s.pub/", offset: -1 }, text: "offset" },
      ],
      finer: ["url", "selector"],
    },
    web_fetch: {
      valid: [{ title: "JSON", input: { url: "http://s.pub/data" } }],
      invalid: [
        { title: "a file", input: { url: "file:///etc/passwd" }, text: "file:" },
        { title: "max_size 1,023", input: { url: "http://s.pub/", max_size: 1_023 }, text: "max_size" },
        { title: "timeout 0", input: { url: "http://s.pub/", timeout: 0 }, text: "timeout" },
        { title: "timeout 121", input: { url: "http://s.pub/", timeout: 121 }, text: "timeout" },
        { title: "Host", input: { url: "http://s.pub/", headers: { Host: "x" } }, text: "Host" },
      ],
      finer: ["url", "headers", "selector"],
      unsupported: ["openai-strict", "anthropic-strict"],
    },
    download_file: {
      valid: [{ title: "into a folder", input: { url: "http://s.pub/data", path: "saved/" } }],
      invalid: [
        { title: "63 digits", input: { url: "http://s.pub/data", path: "x", sha256: "0".repeat(63) }, text: "sha256" },
        {
          title: "9 seconds",
          input: { url: "http://s.pub/data", path: "x", timeout_seconds: 9 },
          text: "timeout_seconds",
        },
      ],
      finer: ["url", "headers", "path", "sha256"],
      unsupported: ["openai-strict", "anthropic-strict"],
    },
  },
});
