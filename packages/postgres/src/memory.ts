import type { GraphStore, KvStore, MemoryStore } from "@toolhaft/memory";
import type { PostgresOptions } from "./database.ts";
import { graphStore } from "./memory/graph-store.ts";
import { kvStore } from "./memory/kv-store.ts";
import { memoryStore } from "./memory/memory-store.ts";

export type { PostgresOptions } from "./database.ts";

/**
 * Notes and fragments on PostgreSQL, for `createMemory({ store })`: analysed and ranked as on SQLite.
 *
 * @throws TypeError for options that cannot be
 * @example
 * const memory = createMemory({ store: postgresMemoryStore({ connectionString: "postgres://app@db.example/work" }) });
 */
export function postgresMemoryStore(options: PostgresOptions): MemoryStore {
  return memoryStore(options);
}

/** Exact keys on PostgreSQL, for `createKvMemory({ store })`. */
export function postgresKvStore(options: PostgresOptions): KvStore {
  return kvStore(options);
}

/** Entities and relations on PostgreSQL, for `createKnowledge({ store })`. */
export function postgresGraphStore(options: PostgresOptions): GraphStore {
  return graphStore(options);
}
