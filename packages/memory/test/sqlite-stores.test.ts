import { join } from "node:path";
import * as runner from "vitest";
import { describeGraphStore, describeKvStore, describeMemoryStore } from "../src/contract.ts";
import { sqliteGraphStore, sqliteKvStore, sqliteMemoryStore } from "../src/index.ts";
import { temporaryFolder } from "./setting.ts";

const path = () => join(temporaryFolder(), "memory.db");

describeMemoryStore("on SQLite", async () => sqliteMemoryStore({ path: path() }), runner);
describeKvStore("on SQLite", async () => sqliteKvStore({ path: path() }), runner);
describeGraphStore("on SQLite", async () => sqliteGraphStore({ path: path() }), runner);
