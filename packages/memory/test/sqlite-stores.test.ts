import { join } from "node:path";
import { sqliteGraphStore, sqliteKvStore, sqliteMemoryStore } from "../src/index.ts";
import { describeGraphStore, describeKvStore, describeMemoryStore } from "./contract.ts";
import { temporaryFolder } from "./setting.ts";

const path = () => join(temporaryFolder(), "memory.db");

describeMemoryStore("on SQLite", async () => sqliteMemoryStore({ path: path() }));
describeKvStore("on SQLite", async () => sqliteKvStore({ path: path() }));
describeGraphStore("on SQLite", async () => sqliteGraphStore({ path: path() }));
