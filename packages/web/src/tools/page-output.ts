import { type Attachment, type ToolOutput, toolOutput } from "@toolhaft/core";
import { type PartLimits, partAt } from "../chunks.ts";
import type { PageResult } from "../page-result.ts";
import type { LoadedPage } from "../pages.ts";
import { createBoundary } from "../untrusted.ts";

const extensions: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/gif": "gif",
  "image/webp": "webp",
  "image/avif": "avif",
};

/** The part of a document that a call gives, as data. */
export function pageOutput(
  loaded: LoadedPage,
  offset: number,
  limits: PartLimits,
  withMetadata: boolean,
): PageResult | ToolOutput<PageResult> {
  const { document } = loaded;
  const { page } = document;
  const { content } = page;
  const part = partAt(content, offset, limits);
  const data: PageResult = {
    url: document.url,
    finalUrl: document.finalUrl,
    status: document.status,
    redirects: [...document.redirects],
    contentType: page.contentType,
    ...(page.charset === undefined ? {} : { charset: page.charset }),
    engine: document.engine,
    ...(page.pageType === undefined ? {} : { pageType: page.pageType }),
    ...(page.title === undefined ? {} : { title: page.title }),
    content: content.slice(part.start, part.end),
    format: page.format,
    ...(page.encoding === undefined ? {} : { encoding: page.encoding }),
    range: { ...part, total: content.length },
    ...(part.end < content.length ? { nextOffset: part.end } : {}),
    version: document.version,
    ...(withMetadata && page.metadata !== undefined ? { metadata: { ...page.metadata } } : {}),
    mayNeedJavaScript: page.mayNeedJavaScript,
    fromCache: loaded.fromCache,
    trust: "untrusted",
    boundary: createBoundary(),
    notes: [...document.notes, ...loaded.notes],
  };
  const image = page.attachment;
  if (image === undefined) return data;
  const attachment: Attachment = {
    name: `image.${extensions[image.mediaType] ?? "bin"}`,
    mimeType: image.mediaType,
    bytes: image.bytes.length,
    source: { kind: "bytes", bytes: image.bytes },
  };
  return toolOutput(data, { attachments: [attachment] });
}
