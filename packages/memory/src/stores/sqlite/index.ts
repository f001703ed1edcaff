import type { GraphStore, KvStore, MemoryStore } from "../../store.ts";

export type { SqliteStoreOptions } from "./file.ts";
export { sqliteGraphStore } from "./graph-store.ts";
export { sqliteKvStore } from "./kv-store.ts";
export { sqliteMemoryStore } from "./memory-store.ts";
export type { GraphStore, KvStore, MemoryStore };
