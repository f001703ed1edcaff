import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { sqliteMemoryStore } from "../src/index.ts";
import type { Document } from "./data.ts";
import { fill } from "./engines.ts";

const require = createRequire(import.meta.url);

/** Our own command; undefined before it is built. */
export function ourServer(): string | undefined {
  const file = fileURLToPath(new URL("../../toolhaft/dist/bin.js", import.meta.url));
  return existsSync(file) ? file : undefined;
}

export function theirServer(): string {
  return join(dirname(require.resolve("@modelcontextprotocol/server-memory/package.json")), "dist/index.js");
}

export interface ServedMemory {
  write(title: string, text: string): Promise<void>;
  close(): Promise<void>;
}

/** Both servers as processes of their own, over the same entries. */
export async function servedMemory(
  folder: string,
  rows: readonly Document[],
  ours: string,
  theirs: string,
): Promise<[ServedMemory, ServedMemory]> {
  const state = join(folder, "state");
  mkdirSync(state);
  const store = sqliteMemoryStore({ path: join(state, "memory.db") });
  await fill(store, rows);
  await store[Symbol.asyncDispose]();
  const file = join(folder, "memory.jsonl");
  const lines = rows.map(({ id, body }) =>
    JSON.stringify({ type: "entity", name: id, entityType: "note", observations: [body] }),
  );
  writeFileSync(file, lines.join("\n"));
  const [mine, peer] = [
    await connected([ours, "mcp", "memory", "--quiet", "--store", state, "--directory", folder], {}),
    await connected([theirs], { MEMORY_FILE_PATH: file }),
  ];
  return [
    {
      write: (title, content) => call(mine, "memory_write", { title, content, scope: "workspace" }),
      close: () => mine.close(),
    },
    {
      write: (name, text) =>
        call(peer, "create_entities", { entities: [{ name, entityType: "note", observations: [text] }] }),
      close: () => peer.close(),
    },
  ];
}

async function connected(args: readonly string[], env: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "bench", version: "1" });
  const { PATH = "" } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [...args],
      env: { PATH, ...env },
      stderr: "ignore",
    }),
  );
  return client;
}

async function call(client: Client, name: string, input: Record<string, unknown>): Promise<void> {
  const result = await client.callTool({ name, arguments: input });
  if (result.isError === true) throw new Error(JSON.stringify(result.content));
}
