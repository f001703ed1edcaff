import { type RecordingStore, runSessionStoreContract, type StoreUnderTest } from "@toolhaft/session/contract";
import { afterAll, it } from "vitest";
import { postgresSessionStore } from "../src/session.ts";
import { asAdmin, describeServer, newSchema, sharedPool } from "./setting.ts";

/** Of this file; emptied for each case, since to make its tables takes longer than a case. */
const schema = newSchema();
const tables = "words, waiting, file_changes, blobs, parts, messages, sessions";
let made = false;

async function openStore(): Promise<StoreUnderTest> {
  if (made) {
    const deletes = tables.split(", ").map((table) => `DELETE FROM "${schema}".${table}`);
    await asAdmin(`${deletes.join("; ")}; UPDATE "${schema}".indexed SET parts = 0, length = 0`);
  }
  made = true;
  const opened: RecordingStore[] = [];
  const open = (): RecordingStore => {
    const store = postgresSessionStore({ pool: sharedPool, schema });
    opened.push(store);
    return store;
  };
  return {
    store: open(),
    another: async () => open(),
    async close() {
      for (const store of opened) await store[Symbol.asyncDispose]();
    },
  };
}

describeServer("PostgreSQL keeps the contract of recorded sessions", () => {
  afterAll(async () => void (await asAdmin(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)));
  runSessionStoreContract(openStore, it);
});
