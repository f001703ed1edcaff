import { fileURLToPath } from "node:url";
import { Client, InMemoryTransport as ClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { McpServer } from "@modelcontextprotocol/server";
import { type AnyTool, defineTool, toolset } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { z } from "zod";
import { createServerV2 } from "../src/bind-v2.ts";
import { fromMcp } from "../src/from-mcp.ts";
import { createMcpHandlers } from "../src/handlers.ts";
import { echo } from "./fixtures/echo.ts";
import { sdkEcho } from "./fixtures/sdk-echo.ts";

const loader = fileURLToPath(new URL("../../testing/run/typescript-loader.mjs", import.meta.url));
const input = { name: "echo", arguments: { text: "hello", times: 3 } };

/** What serving costs over the SDK's own way with the same zod schema. */
export default defineBench(async (bench) => {
  const ours = await overStdio("our-server.ts");
  const sdk = await overStdio("sdk-server.ts");
  await bench.compare({
    name: "no-op call over stdio",
    by: "wall",
    ours: () => ours.callTool(input),
    baseline: { name: "SDK registerTool", run: () => sdk.callTool(input) },
    target: { max: 1.2 },
    batch: 50,
    rounds: 31,
  });
  await Promise.all([ours.close(), sdk.close()]);

  const oursInMemory = await inMemory((transport) =>
    createServerV2(createMcpHandlers(toolset(echo)), "legacy").connect(transport),
  );
  const sdkInMemory = await inMemory((transport) => sdkEcho().connect(transport));
  await bench.compare({
    name: "no-op call in memory",
    ours: () => oursInMemory.callTool(input),
    baseline: { name: "SDK registerTool", run: () => sdkInMemory.callTool(input) },
    target: { max: 1.1 },
    batch: 300,
    rounds: 31,
  });

  const direct = await inMemory((transport) => sdkEcho().connect(transport));
  const behind = await inMemory((transport) => sdkEcho().connect(transport));
  const family = await fromMcp(behind, { prefix: "" });
  const [bridged] = family.tools;
  await bench.compare({
    name: "fromMcp, proxied call",
    ours: () => bridged?.call(input.arguments),
    baseline: { name: "direct client call", run: () => direct.callTool(input) },
    target: { max: 1.3 },
    batch: 300,
    rounds: 31,
  });

  const many = Array.from({ length: 60 }, (_, index) => described(index));
  const oursMany = await inMemory((transport) =>
    createServerV2(createMcpHandlers(toolset(many.map(({ tool }) => tool))), "legacy").connect(transport),
  );
  const sdkMany = await inMemory((transport) => {
    const server = new McpServer({ name: "sdk", version: "1.0.0" });
    for (const { tool, schema } of many)
      server.registerTool(tool.name, { title: tool.title, description: tool.description, inputSchema: schema }, () => ({
        content: [],
      }));
    return server.connect(transport);
  });
  const list = (client: Client) => () => client.request({ method: "tools/list", params: {} });
  await bench.compare({
    name: "tools/list of 60 tools, second call",
    ours: list(oursMany),
    baseline: { name: "SDK registerTool", run: list(sdkMany) },
    target: { max: 0.5 },
  });
  await Promise.all([oursInMemory, sdkInMemory, oursMany, sdkMany].map((client) => client.close()));
});

function described(index: number): { tool: AnyTool; schema: z.ZodObject } {
  const schema = z.object({
    path: z.string().min(1).describe("Where it is, absolute or relative to the folder"),
    kind: z.enum(["file", "folder", "link"]).default("file").describe("What it is"),
    limit: z.number().int().min(1).max(500).optional().describe("Most entries to give"),
    filters: z
      .array(z.object({ field: z.string().describe("Which field"), value: z.string().describe("Which value") }))
      .optional()
      .describe("What to leave out"),
  });
  const tool = defineTool({
    name: `tool_${index}`,
    title: `Tool ${index}`,
    description: `Lists what is under a path, as tool number ${index}. Use it before reading.`,
    inputSchema: schema,
    outputSchema: z.object({}),
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    execute: async () => ({}),
    render: () => "",
  });
  return { tool, schema };
}

async function overStdio(fixture: string): Promise<Client> {
  const file = fileURLToPath(new URL(`./fixtures/${fixture}`, import.meta.url));
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: ["--import", loader, file],
      env: { NODE_ENV: "production", PATH: process.env.PATH ?? "" },
    }),
  );
  return client;
}

async function inMemory(connect: (transport: ClientTransport) => Promise<void>): Promise<Client> {
  const [near, far] = ClientTransport.createLinkedPair();
  await connect(far);
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(near);
  return client;
}
