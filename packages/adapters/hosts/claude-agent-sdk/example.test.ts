import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { createHashline } from "@toolhaft/hashline";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { settings } from "../../../../examples/claude-agent-sdk/main.ts";

it("the example: its server reads a file, and its settings allow what reads", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  await using hashline = createHashline();
  const { mcpServers, allowedTools } = settings(hashline, workspace.directory);
  expect(allowedTools).toContain("mcp__toolhaft__hashline_read");
  expect(allowedTools).not.toContain("mcp__toolhaft__hashline_edit");
  const server = mcpServers?.toolhaft;
  if (server === undefined || !("instance" in server)) throw new Error("the settings hold no server");
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "agent", version: "1" });
  await Promise.all([server.instance.connect(far), client.connect(near)]);
  const answer = await client.callTool({ name: "hashline_read", arguments: { filePath: "a.txt" } });
  expect(JSON.stringify(answer.content)).toContain("forty-two");
  await client.close();
});
