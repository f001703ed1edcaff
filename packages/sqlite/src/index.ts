export type { Database, DriverName, Migration, OpenOptions, Parameters, SqlValue, WriteOptions } from "./database.ts";
export { sqliteCode } from "./faults.ts";
export { type ForeignDatabase, openForeign } from "./foreign.ts";
export { openDatabase, openMemoryDatabase } from "./open.ts";
