import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import { type ContextInit, createContext } from "@toolhaft/core";
import { toClaudeAgentSdk } from "../../src/claude-agent-sdk.ts";
import type { Host, Outcome, Turn } from "../conformance.ts";
import { objectOf } from "./scripted-fetch.ts";

type Answer = { content: { type: string; text?: string; mimeType?: string }[]; isError?: boolean };

/** The agent speaks MCP 2025 to the instance it is given; so does this client. */
export async function runClaudeAgentSdk(turn: Turn): Promise<Outcome> {
  const { context, onProgress, onResult } = turn.options ?? {};
  const init: ContextInit = typeof context === "object" ? context : {};
  const { instance } = toClaudeAgentSdk(turn.tools, {
    directory: createContext(init).directory,
    ...(init.policy && { policy: init.policy }),
    ...(onProgress && { onProgress }),
    ...(onResult && { onResult }),
  });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "agent", version: "1" });
  await Promise.all([instance.connect(far), client.connect(near)]);
  try {
    const tools = await allTools(client);
    const answer = (await client.callTool(
      { name: turn.name, arguments: objectOf(turn.input) as Record<string, unknown> },
      undefined,
      { ...(turn.signal && { signal: turn.signal }), ...(onProgress && { onprogress: () => undefined }) },
    )) as Answer;
    return {
      text: answer.content.flatMap(({ text }) => text ?? []).join(""),
      images: answer.content.flatMap(({ mimeType }) => mimeType ?? []),
      failed: answer.isError === true,
      asked: 0,
      sent: tools.map(({ name, inputSchema }) => ({ name, schema: inputSchema })),
    };
  } finally {
    await client.close();
  }
}

/** Page by page, as clients of the protocol read a list. */
async function allTools(client: Client) {
  const first = await client.listTools();
  const tools = [...first.tools];
  for (let cursor = first.nextCursor; cursor !== undefined; ) {
    const page = await client.listTools({ cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  }
  return tools;
}

export const claudeAgentSdkHost: Host = {
  name: "the server of the Claude Agent SDK",
  // The protocol takes arguments as an object only, and the agent's permission mode stands before the server.
  lost: ["data", "fileChanges", "asker", "cutInput"],
  asks: "never",
  run: runClaudeAgentSdk,
};
