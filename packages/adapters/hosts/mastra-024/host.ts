import { Agent } from "@mastra/core/agent";
import { toMastra024 } from "../../src/mastra.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { shown } from "../../test/hosts/shown.ts";
import { scriptedV2 } from "../scripted-v2.ts";

async function run(turn: Turn): Promise<Outcome> {
  const { model, prompts, sent } = scriptedV2(turn);
  const agent = new Agent({
    name: "tester",
    instructions: "go",
    model: model as never,
    tools: toMastra024(turn.tools, turn.options) as never,
  });
  const output = await agent.stream("go", { maxSteps: 3, ...(turn.signal && { abortSignal: turn.signal }) } as never);
  for await (const _ of output.fullStream as AsyncIterable<unknown>);
  const answer = prompts.at(-1)?.find(({ type }) => type === "tool-result");
  return { ...shown(answer?.output), failed: /error/.test(answer?.output?.type ?? ""), asked: 0, sent };
}

/** The host converts schemas to its zod and back, which writes out the dialect and the bounds that every integer has. */
function withoutZodsOwn(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutZodsOwn);
  if (typeof schema !== "object" || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([key, value]) => key !== "$schema" && !(typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER),
  );
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutZodsOwn(value)]));
}

export const hosts: readonly Host[] = [
  {
    name: "an agent of Mastra 0.24",
    lost: ["data", "fileChanges", "images", "errorFlag", "schema", "cutInput"],
    asks: "never",
    normalize: withoutZodsOwn,
    run,
  },
];
