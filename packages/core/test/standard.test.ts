import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { type AnyTool, defineTool, type StandardToolV1, type Tool, ToolError, type ToolResult } from "../src/index.ts";
import { defaults, echo, fails, reads } from "./fixture-tools.ts";

/** What somebody writes who knows the interface's document alone: checks, runs and answers for any vendor's tool. */
async function integrate(
  tools: readonly StandardToolV1[],
  name: string,
  input: unknown,
): Promise<{ value?: unknown; problem?: string }> {
  const tool = tools.map((one) => one["~standard"]).find((one) => one.version === 1 && one.name === name);
  if (tool === undefined) return { problem: `no tool ${name}` };
  const schema = tool.inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" });
  if (schema.type !== "object") return { problem: "the input is no object" };
  const checked = await tool.inputSchema["~standard"].validate(input);
  if (checked.issues) return { problem: checked.issues.map((issue) => issue.message).join("; ") };
  try {
    const output = await tool.execute(input);
    const valid = await tool.outputSchema["~standard"].validate(output);
    return valid.issues ? { problem: "the output is not what it should be" } : { value: valid.value };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

describe("~standard", () => {
  const tools: StandardToolV1[] = [echo as AnyTool, defaults as AnyTool, fails as AnyTool];
  it("carries vendor, name and description", () =>
    expect(echo["~standard"]).toMatchObject({
      version: 1,
      vendor: "toolhaft",
      name: "echo",
      description: echo.description,
    }));
  it("works for an integrator who knows nothing of us", async () => {
    expect(await integrate(tools, "defaults", { owner: "a" })).toEqual({ value: { owner: "a", ttl_secs: 600 } });
    expect((await integrate(tools, "defaults", {})).problem).toBeDefined();
    expect(await integrate(tools, "fails", {})).toEqual({ problem: "no pending task" });
  });
  it("rejects with a ToolError", async () => {
    await expect(fails["~standard"].execute({})).rejects.toMatchObject({
      name: "ToolError",
      code: "not_found",
      hint: "post one first",
    });
    await expect(fails["~standard"].execute({})).rejects.toBeInstanceOf(ToolError);
  });
});

describe("types", () => {
  it("input before defaults, output after them", () => {
    const tool = defineTool({
      name: "typed",
      title: "Typed",
      description: "Shows what a caller gets to see of the types.",
      inputSchema: z.object({ owner: z.string().describe("o"), ttl: z.int().default(5).describe("t") }),
      outputSchema: z.object({ left: z.number() }),
      annotations: reads,
      async execute(input) {
        expectTypeOf(input).toEqualTypeOf<{ owner: string; ttl: number }>();
        return { left: input.ttl };
      },
      render(output, input) {
        expectTypeOf(output).toEqualTypeOf<{ left: number }>();
        return `${input.owner} ${output.left}`;
      },
    });
    expectTypeOf(tool).toEqualTypeOf<
      Tool<{ owner: string; ttl?: number | undefined }, { left: number }, { owner: string; ttl: number }>
    >();
    expectTypeOf(tool.call).returns.toEqualTypeOf<Promise<ToolResult<{ left: number }>>>();
    expectTypeOf(tool["~standard"]).toExtend<
      StandardToolV1.Props<
        { owner: string; ttl?: number | undefined },
        { owner: string; ttl: number },
        { left: number },
        { left: number }
      >
    >();
  });
});
