export type { SqliteStoreOptions } from "./file.ts";
export { sqliteGraphStore } from "./graph-store.ts";
export { sqliteKvStore } from "./kv-store.ts";
export { sqliteMemoryStore } from "./memory-store.ts";
