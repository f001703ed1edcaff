import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const require = createRequire(import.meta.url);

export interface Listed {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}

/** What well-known servers list, the first of them `@playwright/mcp`. */
export function peerTools(): Promise<{ name: string; tools: Listed[] }[]> {
  const peers = [
    { name: "@playwright/mcp", args: [program("@playwright/mcp", "cli.js"), "--headless"] },
    {
      name: "server-filesystem",
      args: [program("@modelcontextprotocol/server-filesystem", "dist/index.js"), tmpdir()],
    },
    { name: "server-memory", args: [program("@modelcontextprotocol/server-memory", "dist/index.js")] },
  ];
  return Promise.all(peers.map(async ({ name, args }) => ({ name, tools: await toolsOf(args) })));
}

/** Counted with o200k over name, description and schema. */
export const tokensOf = ({ name, description = "", inputSchema }: Listed) =>
  encode(`${name}\n${description}\n${JSON.stringify(inputSchema)}`).length;
function program(name: string, file: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), file);
}

export async function toolsOf(args: readonly string[]): Promise<Listed[]> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
  try {
    return (await client.listTools()).tools;
  } finally {
    await client.close();
  }
}

/** Every family that the command knows, by its own help. */
export async function familyNames(command: string): Promise<string[]> {
  const { spawnSync } = await import("node:child_process");
  // On standard error: the output of `mcp` is the protocol's alone.
  const { stderr: help } = spawnSync(process.execPath, [command, "mcp", "--help"], {
    encoding: "utf8",
    env: { ...process.env, COLUMNS: "1000" },
  });
  const names = /families to serve: ([\s\S]*?), all/.exec(help)?.[1] ?? "";
  return names.split(/,\s+/);
}
