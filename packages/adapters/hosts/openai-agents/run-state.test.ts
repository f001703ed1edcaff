import { existsSync } from "node:fs";
import { Agent, type AgentInputItem, Runner, RunState } from "@openai/agents";
import { tempWorkspace } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { expect, it } from "vitest";
import { toOpenAIAgents } from "../../src/openai-agents.ts";
import { ScriptedModel } from "./host.ts";

it("approval-2: a run stored as JSON goes on elsewhere; of two pending calls of one tool the approved one runs, once", async () => {
  await using inside = await tempWorkspace();
  await using outside = await tempWorkspace();
  const calls = ["a", "b"].map((name) => ({
    callId: name,
    name: "changes_files",
    arguments: JSON.stringify({ path: outside.path(name) }),
  }));
  // As in another process: nothing of the first agent, its tools or their memory is left.
  const fresh = () => {
    const log = { ran: [] as { tool: string; input: unknown }[] };
    const tools = toOpenAIAgents(fixtureTools({ log }), { context: { directory: inside.directory } });
    const agent = new Agent({ name: "Tester", model: new ScriptedModel(calls), tools: tools as never });
    return { agent, log, runner: new Runner({ tracingDisabled: true }) };
  };

  const first = fresh();
  const asked = await first.runner.run(first.agent, [{ role: "user", content: "go" }] as AgentInputItem[]);
  expect(asked.interruptions).toHaveLength(2);
  const stored = JSON.stringify(asked.state);

  const second = fresh();
  const state = await RunState.fromString(second.agent, stored);
  for (const interruption of state.getInterruptions()) {
    if ("callId" in interruption.rawItem && interruption.rawItem.callId === "b") state.approve(interruption);
    else state.reject(interruption);
  }
  const result = await second.runner.run(second.agent, state);
  expect(result.finalOutput).toBe("done");
  expect(first.log.ran).toEqual([]);
  expect(second.log.ran).toEqual([{ tool: "changes_files", input: { path: outside.path("b") } }]);
  expect([existsSync(outside.path("a")), existsSync(outside.path("b"))]).toEqual([false, true]);
});
