import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "vitest";
import { type RecordingStore, runSessionStoreContract, type StoreUnderTest } from "../src/contract.ts";
import { sqliteSessionStore } from "../src/index.ts";

async function openStore(): Promise<StoreUnderTest> {
  const folder = await mkdtemp(join(tmpdir(), "sessions-"));
  const path = join(folder, "sessions.db");
  const opened: RecordingStore[] = [];
  const open = () => {
    const store = sqliteSessionStore({ path });
    opened.push(store);
    return store;
  };
  return {
    store: open(),
    another: async () => open(),
    async close() {
      for (const store of opened) await store[Symbol.asyncDispose]();
      await rm(folder, { recursive: true });
    },
  };
}

describe("the SQLite store keeps the contract", () => {
  runSessionStoreContract(openStore, it);
});
