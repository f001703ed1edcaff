import { type ContextInit, createContext, type ToolResult } from "@toolhaft/core";
import { createTasks, type Task, type Tasks, type TasksOptions } from "@toolhaft/tasks";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { onTestFinished } from "vitest";
import { type AgentSpec, createDispatch, type Dispatch, type DispatchOptions, functionRunner } from "../src/index.ts";
import type { AgentFunction } from "../src/runners/function.ts";
import { eventually } from "./runs.ts";

export interface Desk {
  workspace: TempWorkspace;
  tasks: Tasks;
  dispatch: Dispatch;
  call(name: string, input: object, context?: ContextInit): Promise<ToolResult>;
  /** The data of a call that must succeed. */
  data<T = Record<string, unknown>>(name: string, input: object, context?: ContextInit): Promise<T>;
  /** Launches in the background and gives the id. */
  launch(subagent: string, prompt?: string, more?: object, context?: ContextInit): Promise<string>;
  task(id: string): Promise<Task>;
  /** Waits until a task has one of these statuses. */
  until(id: string, ...statuses: Task["status"][]): Promise<Task>;
  /** Another dispatcher on the same store, as another process has. */
  another(options?: Partial<DispatchOptions>, tasks?: TasksOptions): Promise<Desk>;
}

export const session = "session-of-the-tests";

export function agent(name: string, fn: AgentFunction, more: Partial<AgentSpec> = {}): AgentSpec {
  return { name, description: `The ${name} of the tests.`, runner: functionRunner(fn), ...more };
}

/** Agents that most tests use. */
export const basics: readonly AgentSpec[] = [
  agent("echo", ({ prompt }) => `echo: ${prompt}`),
  agent("hang", (_request, sink, signal) => {
    sink.activity({ kind: "text", text: "hanging" });
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))));
  }),
  agent("fail", () => {
    throw new Error("it broke");
  }),
];

/** A dispatcher in a temporary folder, closed and removed after the test. */
export async function openDesk(
  options: Partial<DispatchOptions> = {},
  tasksOptions: TasksOptions = {},
  given?: TempWorkspace,
): Promise<Desk> {
  const workspace = given ?? (await tempWorkspace());
  const { clock } = options;
  const tasks = createTasks({ ...(clock !== undefined && { clock }), ...tasksOptions });
  const dispatch = createDispatch({ agents: basics, tasks, pollMs: 50, directory: workspace.directory, ...options });
  onTestFinished(async () => {
    await dispatch.close();
    await tasks.close();
    if (given === undefined) await workspace.remove();
  });
  const call = (name: string, input: object, context: ContextInit = {}) => {
    const tool = [...dispatch.tools, ...tasks.tools].find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.call(input, createContext({ directory: workspace.directory, sessionId: session, ...context }));
  };
  const desk: Desk = {
    workspace,
    tasks,
    dispatch,
    call,
    async data<T>(name: string, input: object, context?: ContextInit) {
      const result = await call(name, input, context);
      if (!result.ok) throw new Error(`${name}: ${result.text}`);
      return result.data as T;
    },
    async launch(subagent, prompt = "do it", more = {}, context) {
      const { taskId } = await desk.data<{ taskId: string }>(
        "dispatch",
        { subagent, prompt, run_in_background: true, ...more },
        context,
      );
      return taskId;
    },
    async task(id) {
      const task = await tasks.api.backend(workspace.directory).store.get(id);
      if (task === undefined) throw new Error(`no task ${id}`);
      return task;
    },
    async until(id, ...statuses) {
      let task = await desk.task(id);
      await eventually(async () => {
        task = await desk.task(id);
        return statuses.includes(task.status);
      });
      return task;
    },
    another: (more = {}, others = {}) => openDesk({ ...options, ...more }, { ...tasksOptions, ...others }, workspace),
  };
  return desk;
}

/** A promise with its ends outside. */
export function deferred<T = void>() {
  let resolve = (_: T): void => undefined;
  let reject = (_: unknown): void => undefined;
  const promise = new Promise<T>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
