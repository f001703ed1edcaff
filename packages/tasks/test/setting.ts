import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ContextInit, createContext, type Family, type ToolResult } from "@toolhaft/core";
import { type FakeClock, fakeClock } from "@toolhaft/testing";
import { onTestFinished } from "vitest";
import type { StoreUnderTest } from "../src/contract.ts";
import { createTasks, sqliteTasks, type Tasks, type TasksOptions } from "../src/index.ts";

/** A real folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolhaft-tasks-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }));
  return folder;
}

/** A SQLite store on a clock that stands still until it is moved. */
export async function openSqlite(): Promise<StoreUnderTest & { clock: FakeClock; path: string }> {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-tasks-"));
  const path = join(folder, "tasks.db");
  const clock = fakeClock();
  const open = [sqliteTasks({ path, clock })];
  return {
    clock,
    path,
    backend: open[0] ?? sqliteTasks({ path, clock }),
    async another() {
      const more = sqliteTasks({ path, clock });
      open.push(more);
      return more;
    },
    async pass(ms) {
      clock.advance(ms);
    },
    async close() {
      for (const one of open) await one.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export type Call = (tool: string, input: Record<string, unknown>, init?: ContextInit) => Promise<ToolResult>;

export interface Setting {
  family: Tasks;
  directory: string;
  clock: FakeClock;
  call: Call;
  /** Calls as an agent in a session of its own. */
  as(agent: string): Call;
  /** Posts a task and gives its id. */
  post(more?: Record<string, unknown>): Promise<string>;
}

export function setting(options: TasksOptions = {}, directory = temporaryFolder()): Setting {
  const clock = fakeClock();
  const family = createTasks({ clock, ...options });
  onTestFinished(() => family.close());
  const as = (agent: string): Call => callerOf(family, { directory, agent, sessionId: `session-${agent}` });
  const call = as("main");
  return {
    family,
    directory,
    clock,
    call,
    as,
    async post(more = {}) {
      const { task } = dataOf(await call("task_post", { title: "a task", body: "do it", ...more }));
      return (task as { id: string }).id;
    },
  };
}

export function callerOf(family: Family, context: ContextInit): Call {
  return (name, input, init = {}) => {
    const tool = family.tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`no tool ${name}`);
    return tool.call(input, createContext({ ...context, ...init }));
  };
}

/** Data of a success; a failure ends the test with its text. */
export function dataOf(result: ToolResult): Record<string, unknown> {
  if (!result.ok) throw new Error(result.text);
  return result.data as Record<string, unknown>;
}

export function taskOf(result: ToolResult): { id: string; status: string; attempt: number; [key: string]: unknown } {
  return dataOf(result).task as { id: string; status: string; attempt: number };
}

export function errorOf(result: ToolResult) {
  if (result.ok) throw new Error(`expected a failure, got: ${result.text}`);
  return result.error;
}
