import { describeGraphStore, describeKvStore, describeMemoryStore } from "@toolhaft/memory/contract";
import * as runner from "vitest";
import { postgresGraphStore, postgresKvStore, postgresMemoryStore } from "../src/memory.ts";
import { asAdmin, describeServer, newSchema, sharedPool } from "./setting.ts";

/** A schema for each store: some cases open two. */
const options = async () => {
  const schema = newSchema();
  runner.onTestFinished(async () => void (await asAdmin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));
  return { pool: sharedPool, schema };
};

describeServer("PostgreSQL keeps the contracts of memory", () => {
  describeMemoryStore("on PostgreSQL", async () => postgresMemoryStore(await options()), runner);
  describeKvStore("on PostgreSQL", async () => postgresKvStore(await options()), runner);
  describeGraphStore("on PostgreSQL", async () => postgresGraphStore(await options()), runner);
});
