import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { expect, it } from "vitest";
import { bindV1, createMcpHandlers } from "../src/index.ts";

it("bindV1: a v1 server that already exists lists, calls, asks, reports progress and fails as ours does", async () => {
  const workspace = await tempWorkspace();
  const outside = await tempWorkspace();
  const handlers = createMcpHandlers(toolset(fixtureTools({})), { directory: workspace.directory, structured: true });
  const server = new Server({ name: "existing", version: "1.0.0" });
  await bindV1(server, handlers);
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" }, { capabilities: { elicitation: {} } });
  const asked: string[] = [];
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { decision: "allow once" } };
  });
  await Promise.all([server.connect(far), client.connect(near)]);

  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("changes_files");
  expect(await client.callTool({ name: "echo", arguments: { text: "a" } })).toMatchObject({
    content: [{ type: "text", text: "a" }],
    structuredContent: { text: "a" },
  });
  // result-2: a failure with structured data on reaches the caller as our text, not as a protocol error.
  expect(await client.callTool({ name: "fails", arguments: {} })).toMatchObject({
    isError: true,
    content: [{ type: "text", text: "not_found: no pending task\nhint: post one first" }],
  });
  await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({ code: -32602 });
  const path = outside.path("x");
  expect(await client.callTool({ name: "asks", arguments: { path } })).toMatchObject({
    content: [{ type: "text", text: `wrote ${path}` }],
  });
  expect(asked).toHaveLength(1);
  const updates: number[] = [];
  const controller = new AbortController();
  const slow = client.callTool({ name: "slow", arguments: { steps: 1 } }, undefined, {
    signal: controller.signal,
    onprogress: ({ progress }) => {
      updates.push(progress);
      controller.abort();
    },
  });
  await expect(slow).rejects.toThrow();
  expect(updates).toEqual([1]);
  await client.close();
  await handlers.close();
  await Promise.all([workspace.remove(), outside.remove()]);
});
