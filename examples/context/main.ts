// What memory, files and a source of one's own know about a topic: npx tsx examples/context/main.ts
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContextSource, createContextTools, filesSource, memorySource } from "@toolhaft/context";
import { createMemory } from "@toolhaft/memory";

/** Any search is a source: one function that gives hits. */
const tickets: ContextSource = {
  name: "tickets",
  search: async ({ terms }) =>
    terms.includes("port")
      ? [{ ref: "OPS-7", title: "Firewall", text: "Port 5433 must be open between staging and the pooler." }]
      : [],
};

/** The text about a topic, out of a folder with a note and a memory. */
export async function whatIsKnown(topic: string, directory: string): Promise<string> {
  writeFileSync(join(directory, "network.md"), "# Network\n\nThe pooler listens on port 6432.\n");
  await using memory = createMemory({ path: join(directory, ".toolhaft", "memory.db") });
  const write = memory.tools.find(({ name }) => name === "memory_write");
  const content = "Staging PostgreSQL listens on port 5433.";
  await write?.call({ title: "Database ports", content, scope: "workspace" }, { directory });
  await using context = createContextTools({ sources: [memorySource(memory), filesSource(), tickets] });
  const result = await context.tools[0]?.call({ topic, max_tokens: 500 }, { directory });
  return result?.text ?? "";
}

if (process.argv[1] === import.meta.filename) {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-context-"));
  try {
    console.log(await whatIsKnown("which port does postgres use?", directory));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
