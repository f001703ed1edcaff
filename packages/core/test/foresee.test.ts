import { expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, askerOf, createContext, createPolicy, defineTool, foresee, parseRule } from "../src/index.ts";

const write: AnyTool = defineTool({
  name: "write",
  title: "Write a file",
  description: "Writes a file whose path the input tells, so that hosts can ask beforehand.",
  inputSchema: z.object({ paths: z.array(z.string().describe("One path")).describe("Files") }),
  outputSchema: z.object({}),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  effects: ({ paths }) => paths.map((resource) => ({ permission: "file.write", resource })),
  async execute({ paths }, context) {
    await context.ask({ permission: "file.write", resources: paths, reason: "a test" });
    return {};
  },
  render: () => "done",
});
const directory = "/w";
const of = (paths: string[], init: object = {}) =>
  foresee(write, { paths }, { directory, ...init }).map(({ resource }) => resource);

it("foresees what a call would ask for: nothing inside, each thing outside", () => {
  expect(of(["/w/a"])).toEqual([]);
  expect(of(["/w/a", "/x", "/y"])).toEqual(["/x", "/y"]);
});

it("asks nothing for calls that fail by themselves", () => {
  expect(of(["/x", "/w/.toolhaft/a"])).toEqual([]);
  expect(foresee(write, { paths: 5 }, { directory })).toEqual([]);
  expect(of(["/x"], { policy: createPolicy({ rules: [parseRule("deny", "write")], fallback: "ask" }) })).toEqual([]);
});

it("asks for the tool as a whole where a rule says so and no effect was asked for", () => {
  const policy = createPolicy({
    rules: [parseRule("ask", "write"), parseRule("allow", "file.write:/w/**")],
    fallback: "ask",
    directory,
  });
  expect(foresee(write, { paths: ["/w/a"] }, { directory, policy })).toEqual([
    { permission: "tool.call", resource: "write" },
  ]);
  expect(of(["/x"], { policy })).toEqual(["/x"]);
});

it("knows the gate that a context brings along: its policy, its asker, and what was answered for the session", async () => {
  const asker = async () => ({ allow: true, remember: "session" }) as const;
  const context = createContext({ directory, asker });
  expect(askerOf(context)).toBe(asker);
  expect(askerOf({ directory })).toBeUndefined();
  expect(of(["/x"], context)).toEqual(["/x"]);
  await write.call({ paths: ["/x"] }, context);
  expect(of(["/x", "/y"], context)).toEqual(["/y"]);
  const strict = createContext({ directory, policy: createPolicy({ fallback: "deny" }) });
  expect(of(["/x"], strict)).toEqual([]);
});
