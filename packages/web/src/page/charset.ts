import { getBOMEncoding, normalizeEncoding, TextDecoder } from "@exodus/bytes/encoding.js";
import { guessCharset } from "./charset-guess.ts";
import type { PageNote } from "./types.ts";

export type CharsetSource = "bom" | "header" | "meta" | "utf8" | "sniff" | "default";

export interface DecodedBody {
  text: string;
  /** WHATWG name in lower case. */
  charset: string;
  /** What told the encoding. */
  source: CharsetSource;
}

export interface DecodeOptions {
  contentType?: string | undefined;
  /** Its top-level domain breaks ties between guesses. */
  url?: string | undefined;
  /** False when the bytes may end in half a character. @default true */
  complete?: boolean | undefined;
}

/**
 * Decodes a body as the WHATWG Encoding Standard says, by mark, header, `<meta>`, validity and guess, in this order.
 *
 * @see https://encoding.spec.whatwg.org/
 */
export function decodeBody(bytes: Uint8Array, contentType?: string): DecodedBody {
  const { text, charset, source } = decode(bytes, { contentType });
  return { text, charset, source };
}

/** As {@link decodeBody}, with notes on what was guessed or overruled. */
export function decode(bytes: Uint8Array, options: DecodeOptions): DecodedBody & { notes: PageNote[] } {
  const marked = getBOMEncoding(bytes) ?? utf32Mark(bytes);
  if (marked) return { text: decodeWith(bytes, marked, options), charset: marked, source: "bom", notes: [] };

  const header = usable(/charset\s*=\s*["']?\s*([^\s;"']+)/i.exec(options.contentType ?? "")?.[1]);
  const meta = prescan(bytes);
  if (header) {
    const text = decodeWith(bytes, header, options);
    if (meta && meta !== header && badShare(text) > 0.01) {
      const other = decodeWith(bytes, meta, options);
      if (badShare(other) === 0)
        return {
          text: other,
          charset: meta,
          source: "meta",
          notes: [
            {
              code: "charset_conflict",
              message: `the header says ${header}, the page says ${meta} and only that fits`,
            },
          ],
        };
    }
    return { text, charset: header, source: "header", notes: [] };
  }
  if (meta) return { text: decodeWith(bytes, meta, options), charset: meta, source: "meta", notes: [] };
  if (isUtf8(bytes, options.complete ?? true))
    return { text: decodeWith(bytes, "utf-8", options), charset: "utf-8", source: "utf8", notes: [] };
  const wide = utf16ByNuls(bytes);
  if (wide) return { text: decodeWith(bytes, wide, options), charset: wide, source: "sniff", notes: [guessed(wide)] };
  const guess = guessCharset(bytes.subarray(0, 65_536), options.url);
  if (guess)
    return { text: decodeWith(bytes, guess, options), charset: guess, source: "sniff", notes: [guessed(guess)] };
  return { text: decodeWith(bytes, "windows-1252", options), charset: "windows-1252", source: "default", notes: [] };
}

function guessed(charset: string): PageNote {
  return { code: "charset_guessed", message: `no label; the bytes look like ${charset}` };
}

function decodeWith(bytes: Uint8Array, charset: string, { complete = true }: DecodeOptions): string {
  if (charset === "utf-32le" || charset === "utf-32be") return decodeUtf32(bytes, charset === "utf-32le");
  // Streaming keeps half a character back instead of printing a replacement for it.
  return new TextDecoder(charset).decode(bytes, { stream: !complete });
}

/** A label that a decoder knows; `utf-7`, `x-user-defined` and the replacement encodings do not count. */
function usable(label: string | undefined): string | undefined {
  const name = label === undefined ? null : normalizeEncoding(label);
  return name === null || name === "replacement" || name === "x-user-defined" ? undefined : name;
}

/**
 * Encoding named in the first 1,024 bytes by an XML declaration or `<meta>`.
 *
 * @see https://html.spec.whatwg.org/multipage/parsing.html#prescan-a-byte-stream-to-determine-its-encoding
 */
function prescan(bytes: Uint8Array): string | undefined {
  let head = "";
  for (const byte of bytes.subarray(0, 1_024)) head += String.fromCharCode(byte);
  const xml = usable(/^\s*<\?xml[^>]*\sencoding\s*=\s*["']([^"']+)["']/i.exec(head)?.[1]);
  if (xml) return xml.startsWith("utf-16") ? "utf-8" : xml;
  const open = head.replace(/<!--[\s\S]*?(?:-->|$)/g, "");
  for (const [tag] of open.matchAll(/<meta[\s/][^>]*>?/gi)) {
    const label = /charset\s*=\s*["']?\s*([^\s;"'/>]+)/i.exec(tag)?.[1];
    if (label === undefined) continue;
    const attribute = /(?:^|[\s/"'])charset\s*=/i.test(tag.replace(/content\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]+)/i, ""));
    if (!attribute && !/http-equiv\s*=\s*["']?\s*content-type/i.test(tag)) continue;
    const name = usable(label);
    if (name) return name.startsWith("utf-16") ? "utf-8" : name;
  }
  return undefined;
}

function badShare(text: string): number {
  let bad = 0;
  for (let at = text.indexOf("\ufffd"); at >= 0; at = text.indexOf("\ufffd", at + 1)) bad += 1;
  return bad / Math.max(1, text.length);
}

function isUtf8(bytes: Uint8Array, complete: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: !complete });
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/** Every second byte of ordinary text in UTF-16 is zero. */
function utf16ByNuls(bytes: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  const head = bytes.subarray(0, 2_048);
  if (head.length < 4) return undefined;
  let even = 0;
  let odd = 0;
  for (let at = 0; at < head.length; at += 1) {
    if (head[at] !== 0) continue;
    if (at % 2 === 0) even += 1;
    else odd += 1;
  }
  const half = head.length / 2;
  if (odd > half * 0.4 && even < half * 0.05) return "utf-16le";
  if (even > half * 0.4 && odd < half * 0.05) return "utf-16be";
  return undefined;
}

/** Whether zero bytes in a body are those of UTF-16 or UTF-32 text. */
export function isWideText(bytes: Uint8Array): boolean {
  return (
    getBOMEncoding(bytes)?.startsWith("utf-16") === true ||
    utf32Mark(bytes) !== undefined ||
    utf16ByNuls(bytes) !== undefined
  );
}

function utf32Mark(bytes: Uint8Array): "utf-32be" | undefined {
  return bytes[0] === 0 && bytes[1] === 0 && bytes[2] === 0xfe && bytes[3] === 0xff ? "utf-32be" : undefined;
}

function decodeUtf32(bytes: Uint8Array, little: boolean): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let text = "";
  for (let at = 4; at + 4 <= bytes.byteLength; at += 4) {
    const point = view.getUint32(at, little);
    text += point > 0x10ffff || (point >= 0xd800 && point < 0xe000) ? "\ufffd" : String.fromCodePoint(point);
  }
  return text;
}
