import { createContext, defineTool, type Middleware, toolset } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { z } from "zod";

const inputSchema = z.object({
  owner: z.string().min(1).describe("who"),
  limit: z.int().min(1).max(100).default(10).describe("how many"),
  mode: z.enum(["fast", "slow"]).optional().describe("how"),
});
const outputSchema = z.object({ owner: z.string(), count: z.number() });

const definition = {
  name: "count",
  title: "Count",
  description: "Counts something for an owner and says how many there are.",
  inputSchema,
  outputSchema,
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  execute: async ({ owner, limit }: z.output<typeof inputSchema>) => ({ owner, count: limit }),
  render: ({ owner, count }: z.output<typeof outputSchema>) => `${owner}: ${count}`,
};
const plain = defineTool({ ...definition, validateOutput: false });
const checked = defineTool({ ...definition, validateOutput: true });
const empty: Middleware = (call, next) => next(call);
const wrapped = toolset(plain).wrap(empty, empty, empty).tools[0] ?? plain;
const context = createContext({ directory: process.cwd() });
const input = { owner: "alice", limit: 20 };

const strictInput = z.strictObject(inputSchema.shape);

/** The same promises without a library: unknown keys refused, defaults applied, no throw, text and data. */
async function byHand(raw: unknown): Promise<{ ok: boolean; text: string; data?: unknown }> {
  try {
    const parsed = strictInput.safeParse(raw);
    if (!parsed.success) return { ok: false, text: parsed.error.message };
    const data = await definition.execute(parsed.data);
    return { ok: true, text: definition.render(data), data };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error) };
  }
}

export default defineBench(async (bench) => {
  await bench.compare({
    name: "tool.call on a 3-field tool",
    ours: () => plain.call(input, context),
    baseline: { name: "safeParse, function, render by hand", run: () => byHand(input) },
    target: { max: 2 },
  });
  await bench.compare({
    name: "three empty middlewares",
    ours: () => wrapped.call(input, context),
    baseline: { name: "tool.call", run: () => plain.call(input, context) },
    target: { max: 1.3 },
  });
  await bench.compare({
    name: "output validation on",
    ours: () => checked.call(input, context),
    baseline: { name: "tool.call", run: () => plain.call(input, context) },
    target: { max: 2 },
  });
});
