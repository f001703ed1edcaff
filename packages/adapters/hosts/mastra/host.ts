import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { InMemoryStore } from "@mastra/core/storage";
import { toMastra } from "../../src/mastra.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { shown } from "../../test/hosts/shown.ts";
import { scriptedV2 } from "../scripted-v2.ts";

async function run(turn: Turn): Promise<Outcome> {
  const { model, prompts, sent } = scriptedV2(turn);
  const agent = new Agent({
    id: "tester",
    name: "tester",
    instructions: "go",
    model: model as never,
    tools: toMastra(turn.tools, turn.options) as never,
  });
  // Approvals are kept in a store until they are answered.
  new Mastra({ agents: { tester: agent }, storage: new InMemoryStore(), logger: false });
  let output = await agent.stream("go", { maxSteps: 3, ...(turn.signal && { abortSignal: turn.signal }) });
  const results: { payload: { result?: unknown } }[] = [];
  let asked = 0;
  for (let round = 0; round < 3; round++) {
    let waits: string | undefined;
    for await (const chunk of output.fullStream as AsyncIterable<{ type: string; payload: Record<string, never> }>) {
      if (chunk.type === "tool-result") results.push(chunk);
      if (chunk.type === "tool-call-approval") waits = chunk.payload.toolCallId;
    }
    if (waits === undefined) break;
    asked++;
    const answer = { runId: output.runId, toolCallId: waits };
    output = turn.approve === true ? await agent.approveToolCall(answer) : await agent.declineToolCall(answer);
  }
  const answer = prompts.at(-1)?.find(({ type }) => type === "tool-result");
  const app = results.find(({ payload }) => typeof payload.result === "object")?.payload.result as
    | { data?: unknown; fileChanges?: readonly unknown[] }
    | undefined;
  return {
    ...shown(answer?.output),
    failed: /error/.test(answer?.output?.type ?? ""),
    data: app?.data,
    ...(app?.fileChanges && { fileChanges: app.fileChanges }),
    asked,
    sent,
  };
}

/** The host writes out all types where a schema has none; it means the same. */
function withoutAnyType(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutAnyType);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => !(key === "type" && Array.isArray(value) && value.length > 4),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutAnyType(value)]));
}

export const hosts: readonly Host[] = [
  { name: "an agent of Mastra 1", lost: ["cutInput"], asks: "before", normalize: withoutAnyType, run },
];
