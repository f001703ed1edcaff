import { createHash } from "node:crypto";
import type { Clock } from "@toolhaft/core";
import type { Document } from "./document.ts";
import type { CacheOptions } from "./types.ts";

/** What makes two calls ask for the same document. */
export interface DocumentKey {
  url: string;
  engine: string;
  format: string;
  selector: string | undefined;
  headers: Readonly<Record<string, string>>;
}

export interface DocumentCache {
  get(key: string): Document | undefined;
  set(key: string, document: Document): void;
  /** The version that was last given out under this key, also of a document that is gone. */
  lastVersion(key: string): string | undefined;
}

/** A key that holds no header value in the clear. */
export function cacheKey({ url, engine, format, selector, headers }: DocumentKey): string {
  const sorted = Object.entries(headers)
    .map(([name, value]) => [name.toLowerCase(), value] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  const hash = createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 16);
  return JSON.stringify([url, engine, format, selector ?? "", hash]);
}

const defaults = { entries: 64, bytes: 32 * 1024 * 1024, ageMs: 15 * 60 * 1000 };
const rememberedVersions = 1_000;

/** Documents in memory, the least recently used go first. Nothing is written to disk. */
export function createDocumentCache(options: CacheOptions | false | undefined, clock: Clock): DocumentCache {
  const limits = { ...defaults, ...(options === false ? { entries: 0 } : options) };
  const documents = new Map<string, { document: Document; at: number; bytes: number }>();
  const versions = new Map<string, string>();
  let held = 0;

  function drop(key: string): void {
    const entry = documents.get(key);
    if (entry === undefined) return;
    held -= entry.bytes;
    documents.delete(key);
  }

  function remember(key: string, version: string): void {
    versions.delete(key);
    versions.set(key, version);
    const [oldest] = versions.keys();
    if (versions.size > rememberedVersions && oldest !== undefined) versions.delete(oldest);
  }

  return {
    get(key) {
      const entry = documents.get(key);
      if (entry === undefined) return undefined;
      documents.delete(key);
      if (clock.now() - entry.at > limits.ageMs) {
        held -= entry.bytes;
        return undefined;
      }
      documents.set(key, entry);
      return entry.document;
    },
    set(key, document) {
      remember(key, document.version);
      drop(key);
      const bytes = document.page.content.length * 2 + 2_000;
      if (limits.entries <= 0 || bytes > limits.bytes) return;
      documents.set(key, { document, at: clock.now(), bytes });
      held += bytes;
      for (const oldest of documents.keys()) {
        if (documents.size <= limits.entries && held <= limits.bytes) break;
        drop(oldest);
      }
    },
    lastVersion: (key) => versions.get(key),
  };
}

/** How long an answer counts as fresh, from `Cache-Control` and `Expires`. */
export function freshUntil(headers: ReadonlyMap<string, string>, now: number): number {
  const control = (headers.get("cache-control") ?? "").toLowerCase();
  if (/(?:^|[\s,])no-(?:cache|store)\b/.test(control)) return 0;
  const age = /(?:^|[\s,])max-age\s*=\s*"?(\d{1,10})/.exec(control)?.[1];
  if (age !== undefined) return now + Math.max(0, Number(age) - (Number(headers.get("no older than")) || 0)) * 1000;
  const expires = Date.parse(headers.get("expires") ?? "");
  return Number.isNaN(expires) ? 0 : expires;
}

export const forbidsKeeping = (headers: ReadonlyMap<string, string>): boolean =>
  /(?:^|[\s,])no-store\b/i.test(headers.get("cache-control") ?? "");
