import { describe, expect, test } from "vitest";
import { type ConvertOptions, convert } from "../../src/page/convert.ts";

const read = (body: string | Uint8Array, options: Partial<ConvertOptions> = {}) =>
  convert(typeof body === "string" ? new TextEncoder().encode(body) : body, { url: "https://ex.com/a/", ...options });

/** A one-page PDF with the given words in its text layer. */
function pdf(words: string): Uint8Array {
  const stream = `BT /F1 12 Tf 72 700 Td (${words}) Tj ET`;
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
  ];
  let text = "%PDF-1.4\n";
  const offsets = objects.map((object, index) => {
    const at = text.length;
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return at;
  });
  const table = text.length;
  text += `xref\n0 6\n0000000000 65535 f \n${offsets.map((at) => `${String(at).padStart(10, "0")} 00000 n \n`).join("")}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n${table}\n%%EOF`;
  return Buffer.from(text, "latin1");
}

describe("what was fetched", () => {
  test("kind-1: plain text is text", async () => {
    expect(await read("int main() {}\n", { contentType: "text/plain" })).toMatchObject({
      kind: "text",
      format: "text",
      content: "int main() {}\n",
    });
  });

  test("kind-2: a PDF sent as HTML gives its text by pages", async () => {
    const page = await read(pdf("Hello from a page"), { contentType: "text/html" });
    expect(page.kind).toBe("pdf");
    expect(page.content).toContain("[page 1]");
    expect(page.content).toContain("Hello from a page");
  });

  test("a PDF without text is unsupported", async () => {
    await expect(read(pdf(""), { contentType: "application/pdf" })).rejects.toMatchObject({
      code: "unsupported",
      hint: "download_file",
    });
  });

  test("kind-3: digits, order and double keys of JSON stay", async () => {
    const { content } = await read('{"id": 12345678901234567890, "a": 1.0, "a": 2}', {
      contentType: "application/json",
    });
    expect(content).toBe('{\n  "id": 12345678901234567890,\n  "a": 1.0,\n  "a": 2\n}');
  });

  test("kind-4: an archive is unsupported, with its size and without its bytes", async () => {
    const zip = Uint8Array.from([0x50, 0x4b, 3, 4, 0, 1, 2]);
    await expect(read(zip, { contentType: "application/octet-stream" })).rejects.toMatchObject({
      code: "unsupported",
      hint: "download_file",
      message: expect.stringContaining("7 bytes"),
    });
  });

  test("kind-5: JSON sent as HTML is JSON", async () => {
    expect(await read('[{"a":1}]', { contentType: "text/html" })).toMatchObject({
      kind: "json",
      content: '[\n  {\n    "a": 1\n  }\n]',
    });
  });

  test("JSON Lines are printed one after the other", async () => {
    expect((await read('{"a":1}\n{"b":[]}\n', { contentType: "application/x-ndjson" })).content).toBe(
      '{\n  "a": 1\n}\n{\n  "b": []\n}',
    );
  });

  test("a feed is a list of linked titles", async () => {
    const { kind, content } = await read(
      '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title><link>http://a.com/</link><item><title>I [x]</title><link>http://a.com/1</link><pubDate>Mon, 06 Sep 2021 00:01:00 GMT</pubDate><description>&lt;p&gt;hi&lt;/p&gt;</description></item></channel></rss>',
      { contentType: "application/rss+xml" },
    );
    expect(kind).toBe("feed");
    expect(content).toBe("# T\n\n- [I \\[x\\]](http://a.com/1) (2021-09-06)\n  hi");
  });

  test("an image is an attachment and one line", async () => {
    const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0]);
    expect(await read(png)).toMatchObject({
      kind: "image",
      content: "image: image/png, 10 bytes",
      attachment: { mediaType: "image/png" },
    });
    await expect(read(png, { format: "raw", maxRawBytes: 5 })).rejects.toMatchObject({ code: "too_large" });
  });

  test("formats that a kind cannot give", async () => {
    await expect(read("{}", { contentType: "application/json", format: "html" })).rejects.toMatchObject({
      code: "unsupported",
    });
    await expect(read("x", { contentType: "text/plain", format: "json" })).rejects.toMatchObject({
      code: "unsupported",
    });
    await expect(read("{}", { contentType: "application/json", selector: "p" })).rejects.toMatchObject({
      code: "unsupported",
    });
  });
});

describe("selectors", () => {
  const html = '<main id="m"><p class="x">one</p><p>two</p></main><p class="x">three</p>';

  test("all matches in document order", async () => {
    expect((await read(html, { contentType: "text/html", selector: ".x" })).content).toBe("one\n\nthree");
  });

  test.each([">>", ":contains(", "p:nope", "a".repeat(10_000), " "])(
    "a selector that cannot be read: %.20s",
    async (selector) => {
      await expect(read(html, { contentType: "text/html", selector })).rejects.toMatchObject({ code: "invalid_input" });
    },
  );

  test("no match names what there is", async () => {
    await expect(read(html, { contentType: "text/html", selector: "#gone" })).rejects.toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("#m"),
    });
  });

  test("the section of a fragment is found and its mark removed", async () => {
    const page = await read('<p>first words</p><h2 id="s">Second</h2><p>more</p>', {
      contentType: "text/html",
      url: "https://ex.com/a/#s",
    });
    expect(page.section).toEqual({ id: "s", offset: page.content.indexOf("## Second") });
    expect(page.content).not.toContain("\ue001");
  });
});
