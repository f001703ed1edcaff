import { join } from "node:path";
import { type ContextInit, type Family, isToolError, type ToolError, type ToolResult } from "@toolhaft/core";
import { type FakeClock, fakeClock, tempWorkspace } from "@toolhaft/testing";
import { onTestFinished } from "vitest";
import {
  createFunctions,
  type FunctionEvent,
  type FunctionStateData,
  type Functions,
  type FunctionsOptions,
  type SignalType,
  type StepResult,
} from "../src/index.ts";

/** Frontmatter lines of a function by `role/name` or `name`; the body is "Do name." */
export type Specs = Readonly<Record<string, string>>;

/** The files of functions and of the roles they belong to. */
export function filesOf(specs: Specs): Record<string, string> {
  const files: Record<string, string> = {};
  for (const [id, lines] of Object.entries(specs)) {
    const parts = id.split("/");
    const name = parts.pop() ?? id;
    const text = `---\n${lines === "" ? "description: about it" : lines}\n---\nDo ${name}.\n`;
    const role = parts.join("/subagents/");
    if (role !== "") files[`.agents/roles/${role}/role.yaml`] = `name: ${parts.at(-1)}\nprompt: p\n`;
    files[role === "" ? `.agents/functions/${name}.md` : `.agents/roles/${role}/functions/${name}.md`] = text;
  }
  return files;
}

export interface Setting {
  directory: string;
  family: Functions;
  clock: FakeClock;
  session: string;
  write(files: Record<string, string>): Promise<void>;
  step(event: FunctionEvent): Promise<StepResult>;
  /** `+f`, `-f`, `turn`, … in the notation of the cases. */
  on(...functions: string[]): Promise<void>;
  off(...functions: string[]): Promise<void>;
  turn(times?: number): Promise<void>;
  sig(type: SignalType, payload?: unknown, init?: ContextInit): Promise<ToolResult>;
  /** Resolves the n-th signal of the test. */
  res(n: number, by?: string): Promise<StepResult>;
  art(name: string, text: string): Promise<StepResult>;
  call(tool: string, input?: unknown, init?: ContextInit): Promise<ToolResult>;
  state(): Promise<FunctionStateData>;
  phase(id: string): Promise<string>;
}

export async function setting(specs: Specs = {}, options: FunctionsOptions = {}): Promise<Setting> {
  const workspace = await tempWorkspace(filesOf(specs));
  const clock = fakeClock();
  const { directory } = workspace;
  const family = createFunctions({ directory, clock, ...options });
  onTestFinished(async () => {
    await family.close();
    await workspace.remove();
  });
  const session = "ses-one";
  const seqs: number[] = [];
  const step = (event: FunctionEvent) => family.engine.step(session, event);
  const call = (tool: string, input: unknown = {}, init: ContextInit = {}) =>
    callOf(family, tool, input, { directory, sessionId: session, ...init });
  const made: Setting = {
    directory,
    family,
    clock,
    session,
    write: workspace.write,
    step,
    async on(...names) {
      for (const name of names) await step({ type: "activate", function: name });
    },
    async off(...names) {
      for (const name of names) await step({ type: "deactivate", function: name });
    },
    async turn(times = 1) {
      for (let time = 0; time < times; time++) await step({ type: "turn" });
    },
    async sig(type, payload, init) {
      const result = await call("signal", payload === undefined ? { type } : { type, payload }, init);
      if (result.ok) seqs.push((result.data as { seq: number }).seq);
      return result;
    },
    res: (n, by = "human") => step({ type: "resolve", seq: seqs[n - 1] ?? -1, by }),
    art: (name, text) => step({ type: "artifact", name, text }),
    call,
    state: () => family.engine.state(session),
    async phase(id) {
      const found = (await family.engine.state(session)).functions.find((one) => one.id === id);
      return found?.phase ?? "none";
    },
  };
  return made;
}

export const databaseOf = (directory: string): string => join(directory, ".toolhaft", "functions.db");

export function callOf(family: Family, name: string, input: unknown, init: ContextInit = {}): Promise<ToolResult> {
  const tool = family.tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.call(input, init);
}

export function good<T = Record<string, unknown>>(result: ToolResult): T {
  if (!result.ok) throw new Error(result.text);
  return result.data as T;
}

export function bad(result: ToolResult) {
  if (result.ok) throw new Error(`expected a failure, got: ${result.text}`);
  return result.error;
}

/** The error a promise is rejected with. */
export async function thrown(work: Promise<unknown>): Promise<ToolError> {
  try {
    await work;
  } catch (error) {
    if (isToolError(error)) return error;
    throw error;
  }
  throw new Error("expected a failure");
}
