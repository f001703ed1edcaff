import { decode } from "./charset.ts";
import { type ConvertOptions, convertHtml, type PageBase } from "./convert-html.ts";
import { feedMarkdown, readFeed } from "./feed.ts";
import { indentJson } from "./json-text.ts";
import { longestRun } from "./markdown/escape.ts";
import { PageError } from "./page-error.ts";
import { readPdf } from "./pdf.ts";
import { sniff } from "./sniff.ts";
import type { Page, PageNote } from "./types.ts";

/** HTML beyond this many bytes is not read. */
const mostHtml = 10 * 1024 * 1024;
const mostImage = 5 * 1024 * 1024;

export type { ConvertOptions } from "./convert-html.ts";

/** Turns bytes into a page, in this thread and without any limit of time. */
export async function convert(bytes: Uint8Array, options: ConvertOptions): Promise<Page> {
  const { kind, contentType } = sniff(bytes, options.contentType);
  const { format = "auto", selector } = options;
  if (selector !== undefined && kind !== "html")
    throw new PageError("unsupported", `a selector needs HTML; this is ${contentType}`);
  if (format === "html" && kind !== "html") throw cannot("html", contentType);
  if (kind === "binary" || kind === "image" || kind === "pdf") return convertBinary(bytes, kind, contentType, options);

  const cut = kind === "html" && bytes.length > mostHtml && format !== "raw";
  const complete = (options.complete ?? true) && !cut;
  const body = decode(cut ? bytes.subarray(0, mostHtml) : bytes, {
    contentType: options.contentType,
    url: options.url,
    complete,
  });
  const notes: PageNote[] = [...body.notes];
  if (cut) notes.push({ code: "cut", message: `only the first ${mostHtml} bytes of ${bytes.length} were read` });
  else if (!complete) notes.push({ code: "cut", message: "only the beginning of the document was read" });
  const base = { kind, contentType, charset: body.charset, mayNeedJavaScript: false, notes };
  if (format === "raw") return { ...base, format, content: body.text };
  if (kind === "html") return convertHtml(body.text, base, options);
  if (kind === "json") return convertJson(body.text, base, format);
  if (kind === "feed") {
    const feed = await readFeed(body.text, options.url);
    if (feed) {
      if (format === "json") return { ...base, format, title: feed.title, content: JSON.stringify(feed, undefined, 2) };
      if (format === "text") return { ...base, format, title: feed.title, content: body.text };
      return { ...base, format: "markdown", title: feed.title, content: feedMarkdown(feed) };
    }
    return convertText(body.text, { ...base, kind: "text" }, format);
  }
  return convertText(body.text, base, format);
}

function convertText(text: string, base: PageBase, format: string): Page {
  if (format === "json") throw cannot("json", base.contentType);
  if (format === "markdown" && !/markdown/.test(base.contentType))
    return { ...base, format, content: fenced(text, "") };
  return { ...base, format: /markdown/.test(base.contentType) ? "markdown" : "text", content: text };
}

function convertJson(text: string, base: PageBase, format: string): Page {
  const { text: indented, valid } = indentJson(text);
  if (!valid) base.notes.push({ code: "not_json", message: "the text is not valid JSON and is shown as it came" });
  if (format === "markdown") return { ...base, format, content: fenced(indented, "json") };
  if (format === "text") return { ...base, format, content: text };
  return { ...base, format: "json", content: indented };
}

function fenced(text: string, language: string): string {
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}${language}\n${text.replace(/\n$/, "")}\n${mark}`;
}

function cannot(format: string, contentType: string): PageError {
  return new PageError("unsupported", `${contentType} cannot be given as ${format}`, 'format: "auto"');
}

async function convertBinary(
  bytes: Uint8Array,
  kind: "binary" | "image" | "pdf",
  contentType: string,
  options: ConvertOptions,
): Promise<Page> {
  const { format = "auto", maxRawBytes } = options;
  const size = `${bytes.length.toLocaleString("en-US")} bytes`;
  const base = { kind, contentType, mayNeedJavaScript: false, notes: [] as PageNote[] };
  if (format === "raw") {
    if (maxRawBytes !== undefined && bytes.length > maxRawBytes)
      throw new PageError(
        "too_large",
        `${contentType} of ${size} is over the limit of ${maxRawBytes.toLocaleString("en-US")} bytes`,
        "download_file",
      );
    return {
      ...base,
      format,
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("base64"),
      encoding: "base64",
    };
  }
  if (kind === "pdf" && format !== "json") {
    const { text, metadata, notes } = await readPdf(bytes);
    return {
      ...base,
      format: "text",
      content: text,
      metadata,
      notes,
      ...(metadata.title === undefined ? {} : { title: metadata.title }),
    };
  }
  if (kind === "image" && format === "auto") {
    if (bytes.length > mostImage)
      throw new PageError(
        "too_large",
        `the image (${contentType}, ${size}) is over ${mostImage.toLocaleString("en-US")} bytes`,
        "download_file",
      );
    return {
      ...base,
      format: "text",
      content: `image: ${contentType}, ${size}`,
      attachment: { mediaType: contentType, bytes: new Uint8Array(bytes) },
    };
  }
  throw new PageError(
    "unsupported",
    `${contentType} of ${size} cannot be given as ${format === "auto" ? "text" : format}`,
    "download_file",
  );
}
