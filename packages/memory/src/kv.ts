import type { ToolContext } from "@toolhaft/core";
import { createNonce, type Family, ToolError } from "@toolhaft/core";
import { checkWellFormed, invalid, screenJson } from "./checks.ts";
import { fileOptions } from "./memory.ts";
import type { Warning } from "./model.ts";
import { callerOf, nowOf, type PlaceOptions, settingsOf } from "./options.ts";
import { createShelf } from "./shelf.ts";
import type { Caller, KvStore } from "./store.ts";
import { deleteKeyTool } from "./tools/kv-delete.ts";
import { listKeysTool } from "./tools/kv-list.ts";
import { recallKeyTool } from "./tools/kv-recall.ts";
import { storeKeyTool } from "./tools/kv-store.ts";
import { iso } from "./view.ts";

export interface KvMemoryOptions extends PlaceOptions {
  /** @default SQLite in the state folder of the call */
  store?: KvStore;
  /** Whose keys a call sees. @default workspace and agent of the call */
  namespace?(ctx: ToolContext): Caller;
}

/** What the tools of keys do, without schemas and texts. */
export interface Keys {
  store(
    input: { key: string; value: unknown; if_version?: number | undefined },
    ctx: ToolContext,
  ): Promise<{ key: string; version: number; created: boolean; bytes: number; warnings: Warning[] }>;
  recall(
    input: { key: string },
    ctx: ToolContext,
  ): Promise<{
    fence: string;
    key: string;
    found: boolean;
    value: unknown;
    version: number | null;
    updatedAt: string | null;
    near: string[];
  }>;
  list(
    input: { limit: number; offset: number; prefix?: string | undefined },
    ctx: ToolContext,
  ): Promise<{
    fence: string;
    keys: { key: string; version: number; bytes: number; updatedAt: string }[];
    total: number;
    nextOffset: number | null;
  }>;
  delete(
    input: { key: string; if_version?: number | undefined },
    ctx: ToolContext,
  ): Promise<{ key: string; deleted: boolean; version: number | null }>;
}

/** Characters of keys that one answer lists. */
const pageChars = 24_000;

/**
 * Values under exact keys. Two of its tools have names that `createMemory` uses too: put it behind a prefix beside it.
 *
 * @example
 * const tools = toolset(createMemory(), toolset(createKvMemory()).prefix("kv_"));
 */
export function createKvMemory(options: KvMemoryOptions = {}): Family {
  const shelf = createShelf(options, async (path) => {
    const { sqliteKvStore } = await import("./stores/sqlite/kv-store.ts");
    return sqliteKvStore(fileOptions(options, path));
  });
  const keys = createKeys(options, shelf);
  const close = async () => shelf[Symbol.asyncDispose]();
  return {
    name: "kv-memory",
    tools: [storeKeyTool(keys), recallKeyTool(keys), listKeysTool(keys), deleteKeyTool(keys)],
    close,
    [Symbol.asyncDispose]: close,
  };
}

function createKeys(options: KvMemoryOptions, shelf: ReturnType<typeof createShelf<KvStore>>): Keys {
  const { limits, secrets } = settingsOf(options);
  const nonce = options.random ?? createNonce;
  const ownerOf = (ctx: ToolContext): Caller => {
    const caller = callerOf(ctx, options);
    return options.namespace?.(ctx) ?? caller;
  };

  return {
    async store({ key, value, if_version }, ctx) {
      const caller = ownerOf(ctx);
      checkKey(key);
      const { json, warnings } = screenJson("value", jsonOf(value), secrets);
      const bytes = Buffer.byteLength(json);
      if (bytes > limits.value) {
        throw new ToolError("too_large", `the value has ${bytes} bytes of JSON, at most ${limits.value} are kept`, {
          hint: "split it over several keys, or keep it in a file and its path under the key",
        });
      }
      return shelf.use(ctx, async (store) => {
        const at = nowOf(ctx, options);
        const set = await store.set(caller, key, json, if_version, { at, limit: limits.keys }, ctx.signal);
        if (set.kind === "conflict") throw conflict(set.version);
        if (set.kind === "full") {
          throw new ToolError("too_large", `this namespace holds ${set.keys} keys, and no more are kept`, {
            hint: `remove some with ${ctx.toolName("memory_delete")}`,
          });
        }
        return { key, version: set.version, created: set.created, bytes, warnings };
      });
    },

    async recall({ key }, ctx) {
      const caller = ownerOf(ctx);
      checkKey(key);
      return shelf.use(ctx, async (store) => {
        const entry = await store.get(caller, key, ctx.signal);
        if (entry) {
          const value: unknown = JSON.parse(entry.json);
          return {
            fence: nonce(),
            key,
            found: true,
            value,
            version: entry.version,
            updatedAt: iso(entry.updatedAt),
            near: [],
          };
        }
        const all = await store.keys(caller, { prefix: "", limit: limits.keys, offset: 0 }, ctx.signal);
        const near = nearKeys(
          key,
          all.keys.map((known) => known.key),
        );
        return { fence: nonce(), key, found: false, value: null, version: null, updatedAt: null, near };
      });
    },

    async list({ limit, offset, prefix = "" }, ctx) {
      const caller = ownerOf(ctx);
      checkWellFormed("prefix", prefix);
      return shelf.use(ctx, async (store) => {
        const page = await store.keys(caller, { prefix, limit, offset }, ctx.signal);
        const keys: { key: string; version: number; bytes: number; updatedAt: string }[] = [];
        let used = 0;
        for (const { updatedAt, ...entry } of page.keys) {
          used += entry.key.length + 40;
          if (used > pageChars && keys.length > 0) break;
          keys.push({ ...entry, updatedAt: iso(updatedAt) });
        }
        const next = offset + keys.length;
        return {
          fence: nonce(),
          keys,
          total: page.total,
          nextOffset: keys.length > 0 && next < page.total ? next : null,
        };
      });
    },

    async delete({ key, if_version }, ctx) {
      const caller = ownerOf(ctx);
      checkKey(key);
      return shelf.use(ctx, async (store) => {
        const outcome = await store.delete(caller, key, if_version, ctx.signal);
        if (outcome.kind === "conflict") throw conflict(outcome.version);
        return {
          key,
          deleted: outcome.kind === "deleted",
          version: outcome.kind === "deleted" ? outcome.entry.version : null,
        };
      });
    },
  };

  function checkKey(key: string): void {
    checkWellFormed("key", key);
    const bytes = Buffer.byteLength(key);
    if (bytes === 0 || bytes > limits.key)
      throw invalid(`key has ${bytes} bytes`, `a key has 1 to ${limits.key} bytes`);
    if (/\p{Cc}/u.test(key)) throw invalid("key holds a control character", "leave out line breaks, tabs and the like");
  }
}

function jsonOf(value: unknown): string {
  let json: string | undefined;
  try {
    json = JSON.stringify(value);
  } catch (error) {
    throw invalid(
      `value is no JSON: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`,
      "give plain JSON",
    );
  }
  if (json === undefined)
    throw invalid("value is missing or no JSON", "give a string, number, boolean, null, array or object");
  checkWellFormed("value", json);
  return json;
}

function conflict(version: number | null): ToolError {
  return new ToolError("conflict", version === null ? "the key does not exist" : `the key is at version ${version}`, {
    hint: "recall it, decide again, then give that version (0: must not exist)",
    retryable: false,
    details: { version },
  });
}

/** Keys within two edits; a swap of neighbours is one. */
function nearKeys(key: string, keys: readonly string[]): string[] {
  return keys
    .map((known) => ({ known, distance: editDistance(key, known) }))
    .filter(({ distance }) => distance <= 2)
    .sort((a, b) => a.distance - b.distance || (a.known < b.known ? -1 : 1))
    .slice(0, 3)
    .map(({ known }) => known);
}

function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1]?.toLowerCase() === b[j - 1]?.toLowerCase();
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + (same ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        cost = Math.min(cost, (beforeLast[j - 2] ?? 0) + 1);
      row.push(cost);
    }
    if (Math.min(...row) > 2) return 3;
    beforeLast = last;
    last = row;
  }
  return last[b.length] ?? 3;
}
