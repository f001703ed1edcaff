import { randomBytes } from "node:crypto";
import { open, stat } from "node:fs/promises";
import { type Attachment, ToolError } from "@toolhaft/core";
import { invalidParams, McpFault, type ResourceContents } from "./types.ts";

const scheme = "toolhaft://result/";
/** More than this in one answer and clients with a 10 MB line limit drop the connection. */
const maxReadBytes = 4 * 1_024 * 1_024;

interface Kept {
  name: string;
  mimeType: string;
  bytes: number;
  source: Exclude<Attachment["source"], { kind: "uri" }>;
}

/** What calls of one session left to be read later: attachments and spilled texts, the oldest read out first. */
export interface ResultsStore {
  /** Keeps an attachment and gives its address: 128 random bits, of no use to another session. */
  add(attachment: Attachment): { uri: string; name: string; mimeType: string; size: number };
  list(): { uri: string; name: string; mimeType: string; size: number }[];
  /**
   * Reads all, or a range of bytes by `?offset=&limit=`.
   *
   * @throws McpFault for an address that is unknown, of another session, or no longer kept
   */
  read(uri: string): Promise<ResourceContents>;
}

/** @param maxBytes What is kept in memory or promised from files, in all. */
export function createResultsStore(maxBytes = 64 * 1_024 * 1_024): ResultsStore {
  const kept = new Map<string, Kept>();
  let total = 0;

  const evict = () => {
    for (const [id, entry] of kept) {
      if (total <= maxBytes || kept.size === 1) return;
      kept.delete(id);
      total -= entry.bytes;
    }
  };

  return {
    add({ name, mimeType, bytes, source }) {
      if (source.kind === "uri") return { uri: source.uri, name, mimeType, size: bytes };
      const id = randomBytes(16).toString("hex");
      kept.set(id, { name, mimeType, bytes, source });
      total += bytes;
      evict();
      return { uri: scheme + id, name, mimeType, size: bytes };
    },
    list() {
      return [...kept].map(([id, { name, mimeType, bytes }]) => ({ uri: scheme + id, name, mimeType, size: bytes }));
    },
    async read(uri) {
      const { id, offset, limit } = parseAddress(uri);
      const entry = kept.get(id);
      if (entry === undefined)
        throw new McpFault(
          invalidParams,
          `no result at ${uri}: it is unknown here or no longer kept; call the tool again`,
        );
      kept.delete(id);
      kept.set(id, entry);
      const { bytes, size } = await readBytes(entry, offset, limit);
      const next = offset + bytes.length;
      const range = { offset, bytes: bytes.length, total: size, ...(next < size && { next }) };
      const contents = { uri, mimeType: entry.mimeType, _meta: { "toolhaft/range": range } };
      return isText(entry)
        ? { ...contents, text: new TextDecoder().decode(bytes) }
        : { ...contents, blob: Buffer.from(bytes).toString("base64") };
    },
  };
}

function parseAddress(uri: string): { id: string; offset: number; limit: number } {
  const unknown = () => new McpFault(invalidParams, `no such resource: ${uri.slice(0, 200)}`);
  if (!uri.startsWith(scheme)) throw unknown();
  const [id = "", query = ""] = uri.slice(scheme.length).split("?", 2);
  const parameters = new URLSearchParams(query);
  const number = (name: string, fallback: number, least: number): number => {
    const text = parameters.get(name);
    if (text === null) return fallback;
    if (!/^\d{1,15}$/.test(text) || Number(text) < least)
      throw new McpFault(invalidParams, `${name} is a whole number from ${least}, not "${text.slice(0, 40)}"`);
    return Number(text);
  };
  for (const name of parameters.keys()) {
    if (name !== "offset" && name !== "limit")
      throw new McpFault(invalidParams, `unknown parameter "${name.slice(0, 40)}": offset and limit are known`);
  }
  return { id, offset: number("offset", 0, 0), limit: Math.min(number("limit", maxReadBytes, 1), maxReadBytes) };
}

async function readBytes(entry: Kept, offset: number, limit: number): Promise<{ bytes: Uint8Array; size: number }> {
  if (entry.source.kind === "file") return readFileRange(entry.source.path, offset, limit, isText(entry));
  const all = entry.source.kind === "bytes" ? entry.source.bytes : new TextEncoder().encode(entry.source.text);
  const cut = all.subarray(Math.min(offset, all.length), Math.min(offset + limit, all.length));
  const more = offset + limit < all.length;
  return { bytes: isText(entry) && more ? wholeCharacters(cut) : cut, size: all.length };
}

async function readFileRange(
  path: string,
  offset: number,
  limit: number,
  text: boolean,
): Promise<{ bytes: Uint8Array; size: number }> {
  try {
    const { size } = await stat(path);
    const file = await open(path);
    try {
      const buffer = new Uint8Array(Math.max(0, Math.min(limit, size - offset)));
      const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
      const cut = buffer.subarray(0, bytesRead);
      return { bytes: text && offset + bytesRead < size ? wholeCharacters(cut) : cut, size };
    } finally {
      await file.close();
    }
  } catch (cause) {
    throw new ToolError("unavailable", "the file behind this result cannot be read any more", {
      hint: "call the tool again",
      cause,
    });
  }
}

/** Drops the started character at the end of a range, so that the next range begins with it. */
function wholeCharacters(bytes: Uint8Array): Uint8Array {
  let start = bytes.length - 1;
  while (start > 0 && bytes.length - start < 4 && ((bytes[start] ?? 0) & 0xc0) === 0x80) start--;
  const lead = bytes[start] ?? 0;
  const length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : lead >= 0xc0 ? 2 : 1;
  return start + length > bytes.length && start > 0 ? bytes.subarray(0, start) : bytes;
}

function isText({ mimeType, source }: Kept): boolean {
  return source.kind === "text" || /^text\/|[/+](?:json|xml|javascript)$/.test(mimeType);
}
