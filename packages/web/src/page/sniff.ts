import { isWideText } from "./charset.ts";
import type { PageKind } from "./types.ts";

export interface Sniffed {
  kind: PageKind;
  /** Media type in lower case, without parameters. */
  contentType: string;
}

const magic: readonly (readonly [string, PageKind, readonly number[], number?])[] = [
  ["application/pdf", "pdf", [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["image/png", "image", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["image/jpeg", "image", [0xff, 0xd8, 0xff]],
  ["image/gif", "image", [0x47, 0x49, 0x46, 0x38]],
  ["image/webp", "image", [0x57, 0x45, 0x42, 0x50], 8],
  ["image/avif", "image", [0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69], 4],
  ["application/gzip", "binary", [0x1f, 0x8b, 0x08]],
  ["application/zip", "binary", [0x50, 0x4b, 0x03, 0x04]],
];

const textTypes =
  /^(?:text\/|application\/(?:javascript|x-javascript|ecmascript|typescript|xml|x-sh|x-yaml|yaml|toml|x-toml|sql|graphql|x-httpd-php|x-python|x-ruby|rtf|x-tex|x-latex|csv|x-csv|x-subrip|x-www-form-urlencoded|manifest|n-triples|n-quads|trig|sparql-query|wasm\+text)$|message\/)|\+(?:xml|yaml)$/;

/** What a body is: by its first bytes where these are sure, else by its label. */
export function sniff(bytes: Uint8Array, contentType: string | undefined): Sniffed {
  const label = (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? "";
  const head = bytes.subarray(0, 1_460);
  for (const [type, kind, signature, offset = 0] of magic)
    if (signature.every((byte, at) => head[offset + at] === byte)) return { kind, contentType: type };
  if (isBinary(head, bytes)) return { kind: "binary", contentType: label || "application/octet-stream" };
  const start = asciiStart(head);
  const loose =
    label === "" ||
    label === "text/plain" ||
    label === "application/octet-stream" ||
    label === "text/html" ||
    label === "application/x-unknown";
  const jsonLike = /^[{[]/.test(start) && looksLikeJson(start);
  if (
    /^(?:application|text)\/(?:[\w.-]+\+)?json$|^application\/(?:x-)?(?:ndjson|jsonlines|jsonl|json-seq)$|^text\/(?:x-)?json$|^application\/manifest\+json$/.test(
      label,
    )
  )
    return { kind: "json", contentType: label };
  if (/^application\/(?:rss|atom|rdf)\+xml$/.test(label)) return { kind: "feed", contentType: label };
  if (/^(?:application|text)\/xml$/.test(label) || (loose && /^<\?xml/i.test(start)) || (loose && isFeedStart(start)))
    return xmlKind(start, label);
  if (loose && jsonLike) return { kind: "json", contentType: "application/json" };
  if (label === "text/html" || label === "application/xhtml+xml") return { kind: "html", contentType: label };
  if (loose && isHtmlStart(start)) return { kind: "html", contentType: "text/html" };
  if (label === "" || label === "application/octet-stream" || label === "application/x-unknown")
    return { kind: "text", contentType: "text/plain" };
  if (textTypes.test(label)) return { kind: "text", contentType: label };
  return { kind: "binary", contentType: label };
}

function isBinary(head: Uint8Array, bytes: Uint8Array): boolean {
  return head.includes(0) && !isWideText(bytes);
}

function asciiStart(head: Uint8Array): string {
  let text = "";
  for (const byte of head) if (byte !== 0) text += String.fromCharCode(byte);
  return text.replace(/^(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)/, "").trimStart();
}

function isHtmlStart(start: string): boolean {
  const body = start.replace(/^(?:\s*<!--[\s\S]*?-->)+\s*/, "");
  return /^<(?:!doctype\s+html|html|head|body|script|iframe|h1|div|font|table|a|style|title|b|br|p|main|article|meta|link|svg|ul|ol|section|header)(?:[\s>/]|$)/i.test(
    body,
  );
}

function isFeedStart(start: string): boolean {
  return /^(?:<\?xml[^>]*\?>\s*)?(?:<!--[\s\S]*?-->\s*|<\?[^>]*\?>\s*)*<(?:rss|feed|rdf:RDF)[\s>]/i.test(start);
}

function xmlKind(start: string, label: string): Sniffed {
  if (isFeedStart(start)) return { kind: "feed", contentType: label.includes("xml") ? label : "application/xml" };
  if (/<!doctype\s+html|<html[\s>]/i.test(start)) return { kind: "html", contentType: "application/xhtml+xml" };
  return { kind: "text", contentType: label.includes("xml") ? label : "application/xml" };
}

/** The first tokens are those of JSON: a key in quotes, a value, or the end. */
function looksLikeJson(start: string): boolean {
  return /^(?:\{\s*(?:"(?:[^"\\]|\\.){0,1400}(?:"\s*:|$)|\}|$)|\[\s*(?:[{[\]"]|-?\d|true|false|null|$))/.test(start);
}
