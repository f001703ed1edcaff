import zlib from "node:zlib";
import { describe, expect, it } from "vitest";
import { failureOf, pageOf, testWeb } from "../web-world.ts";

const html = `<!doctype html><html lang="en"><head><title>Guide to hafts</title><meta name="author" content="A. Writer">
<script type="application/ld+json">{"@type":"Article","headline":"Guide to hafts"}</script></head><body><nav><a href="/x">Elsewhere</a></nav>
<main><article><h1>Guide to hafts</h1><p onclick="steal()">A haft is the handle by which a tool is held, and <a href="/care">care</a> keeps it whole for years.</p>
<p>Ash and hickory are the usual woods for it, since both take a blow along the grain without breaking.</p></article></main><script>1</script></body></html>`;
const json = '{"id": 12345678901234567890, "a": 1.0, "a": 2}';
const feed = `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><link>http://s.pub/</link><item><title>First</title><link>http://s.pub/1</link><description>About it</description></item></channel></rss>`;
const png = Buffer.from(
  "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c6360000002000001e221bc330000000049454e44ae426082",
  "hex",
);

const kinds = {
  html: ["text/html; charset=utf-8", html],
  json: ["application/json", json],
  text: ["text/plain", "plain <words>"],
  feed: ["application/rss+xml", feed],
  png: ["image/png", png],
} as const;

type Cell = RegExp | "unsupported" | "attachment" | "base64";

/** The table of forms: what each kind gives for each format. */
const table: Readonly<Record<keyof typeof kinds, Readonly<Record<string, Cell>>>> = {
  html: {
    markdown: /^# Guide to hafts[\s\S]*\[care\]\(http:\/\/s\.pub\/care\)/,
    text: /keeps it whole/,
    html: /href="http:\/\/s\.pub\/care"/,
    json: /"jsonLd"/,
    raw: /onclick="steal\(\)"/,
  },
  json: {
    markdown: /^```json\n[\s\S]*12345678901234567890/,
    text: /"a": 1\.0/,
    html: "unsupported",
    json: /12345678901234567890[\s\S]*"a": 1\.0[\s\S]*"a": 2/,
    raw: /^\{"id": 12345678901234567890, "a": 1\.0, "a": 2\}$/,
  },
  text: {
    markdown: /^```[\s\S]*plain <words>/,
    text: /^plain <words>$/,
    html: "unsupported",
    json: "unsupported",
    raw: /^plain <words>$/,
  },
  feed: { markdown: /\[First\]\(http:\/\/s\.pub\/1\)/, html: "unsupported", json: /"First"/, raw: /<rss/ },
  png: { auto: "attachment", markdown: "unsupported", html: "unsupported", json: "unsupported", raw: "base64" },
};

describe.each(Object.entries(table))("%s", (kind, cells) => {
  it.each(Object.entries(cells))("as %s", async (format, cell) => {
    const test = await testWeb();
    const [type, body] = kinds[kind as keyof typeof kinds];
    test.world.on("http://s.pub/doc", (_request, response) =>
      response.writeHead(200, { "content-type": type }).end(body),
    );
    const result = await test.fetch("http://s.pub/doc", { format });
    if (cell === "unsupported") return expect(failureOf(result).code).toBe("unsupported");
    const { data } = pageOf(result);
    if (cell === "base64") return expect([data.encoding, data.content]).toEqual(["base64", png.toString("base64")]);
    if (cell === "attachment")
      return expect(result.ok && result.attachments).toMatchObject([{ mimeType: "image/png", bytes: png.length }]);
    return expect(data.content).toMatch(cell);
  });
});

describe("forms of a page", () => {
  it("html has no script, no event attribute and absolute links; metadata stands on top when asked for", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/doc", html);
    const { data } = pageOf(await test.fetch("http://s.pub/doc", { format: "html" }));
    expect(data.content).not.toMatch(/<script|onclick/);
    const { text, data: with_ } = pageOf(await test.fetch("http://s.pub/doc", { include_metadata: true }));
    expect(with_.metadata).toMatchObject({ title: "Guide to hafts", author: "A. Writer", language: "en" });
    expect(text).toMatch(/---\ntitle: Guide to hafts\n/);
    expect(pageOf(await test.fetch("http://s.pub/doc")).data.metadata).toBeUndefined();
  });

  it('selector "body" gives the whole page, and others only what they match', async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/doc", html);
    expect(pageOf(await test.fetch("http://s.pub/doc", { selector: "body" })).data.content).toContain("Elsewhere");
    expect(
      pageOf(await test.call("web_read", { url: "http://s.pub/doc", selector: "p:first-of-type" })).data.content,
    ).not.toContain("hickory");
  });

  it("the reader engine gives an article and tells when there is none", async () => {
    const test = await testWeb();
    test.world.on(
      "http://s.pub/doc",
      html.replace(
        "<p>Ash",
        `<p>${"Ash and hickory are the usual woods, as every maker of tools will say. ".repeat(20)}</p><p>Ash`,
      ),
    );
    expect(pageOf(await test.fetch("http://s.pub/doc", { engine: "reader" })).data.content).toContain("hickory");
    test.world.on("http://s.pub/links", `<ul>${'<li><a href="/x">one link</a></li>'.repeat(40)}</ul>`);
    const failure = failureOf(await test.fetch("http://s.pub/links", { engine: "reader" }));
    expect(failure).toMatchObject({ code: "not_found" });
    expect(failure.hint).toContain("default");
  });

  it("main-6: a shell without text is a failure that names the browser", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/app", `<!doctype html><div id="root"></div><script>${"x();".repeat(15_000)}</script>`);
    const failure = failureOf(await test.call("web_read", { url: "http://s.pub/app" }));
    expect(failure).toMatchObject({ code: "upstream", details: { mayNeedJavaScript: true } });
    expect(failure.hint).toContain('engine: "browser"');
  });

  it("kind-4: a zip names download_file and shows none of its bytes", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/a.zip", (_request, response) =>
      response
        .writeHead(200, { "content-type": "application/octet-stream" })
        .end(Buffer.from("504b0304140000000800626c6f62", "hex")),
    );
    const failure = failureOf(await test.fetch("http://s.pub/a.zip"));
    expect(failure.code).toBe("unsupported");
    expect(failure.hint).toContain("download_file");
    expect(failure.text).not.toContain("PK");
  });

  it.skipIf("createZstdDecompress" in zlib)("kind-6: zstd that nobody asked for is named, never shown", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/", (_request, response) =>
      response
        .writeHead(200, { "content-type": "text/plain", "content-encoding": "zstd" })
        .end(Buffer.from("28b52ffd0458210000616263e4d5fd1c", "hex")),
    );
    const failure = failureOf(await test.fetch("http://s.pub/"));
    expect(failure.code).toBe("unsupported");
    expect(failure.text).toContain('"zstd"');
  });

  it("char-6: a part never ends in half of a character", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/", (_request, response) =>
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end("漢字".repeat(2_000)),
    );
    const { data } = pageOf(await test.fetch("http://s.pub/", { max_size: 1_025 }));
    expect(data.content).toMatch(/^[漢字]+$/);
  });

  it("a fragment is not sent; a note says where its section starts", async () => {
    const test = await testWeb();
    test.world.on("http://s.pub/doc", html.replace("<p>Ash", '<h2 id="woods">Woods</h2><p>Ash'));
    const { data } = pageOf(await test.call("web_read", { url: "http://s.pub/doc#woods" }));
    const note = data.notes.find(({ code }) => code === "section_at");
    const offset = Number(/character (\d+)/.exec(note?.message ?? "")?.[1]);
    expect(data.content.slice(offset)).toMatch(/^#* ?Woods/);
  });
});
