// Keep a decision and find it again in another session: npx tsx examples/memory/main.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toolset } from "@toolhaft/core";
import { createKnowledge, createKvMemory, createMemory } from "@toolhaft/memory";

/** Two families whose tools share names live side by side behind a prefix. */
export const open = () => toolset(createMemory(), createKnowledge(), toolset(createKvMemory()).prefix("kv_"));

if (process.argv[1] === import.meta.filename) {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-memory-"));
  try {
    for (const session of ["monday", "tuesday"]) {
      await using tools = open();
      const call = async (name: string, input: unknown) => {
        const result = await tools.get(name)?.call(input, { directory, sessionId: session });
        console.log(`${session}: ${name}\n${result?.text}\n`);
      };
      if (session === "monday") {
        await call("memory_write", {
          title: "Database",
          content: "We chose PostgreSQL 17; it listens on port 6432.",
          category: "decision",
          scope: "workspace",
        });
        await call("kv_memory_store", { key: "deploy.target", value: { region: "eu-central-1" } });
        await call("knowledge_add_relation", { from: "atlas", to: "postgres", type: "uses", create_missing: true });
      } else {
        await call("memory_recall", { query: "which port does the database use?" });
        await call("kv_memory_recall", { key: "deploy.target" });
        await call("knowledge_query", { start: "atlas" });
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
