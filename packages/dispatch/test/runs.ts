import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { createContext } from "@toolhaft/core";
import type { Usage } from "@toolhaft/tasks";
import { type AgentSpec, functionRunner, type RunHandle, type RunRequest, type RunSink } from "../src/index.ts";

/** The agent program of the tests: speaks every preset's format, and misbehaves on demand. */
export const agentProgram = fileURLToPath(new URL("./fixtures/agent.mjs", import.meta.url));

export const plainAgent: AgentSpec = { name: "tester", description: "A test.", runner: functionRunner(() => "ok") };

export function requestFor(directory: string, prompt: string, more: Partial<RunRequest> = {}): RunRequest {
  return {
    taskId: "task_01KBQ7W3M2V8Y0T4N6R1C5D9EA",
    attempt: 1,
    depth: 1,
    agent: plainAgent,
    prompt,
    directory,
    env: { TOOLHAFT_TASK: "task_01KBQ7W3M2V8Y0T4N6R1C5D9EA", TOOLHAFT_TASK_TOKEN: "token", TOOLHAFT_STORE: "store" },
    session: null,
    transcript: null,
    used: null,
    decision: null,
    allowance: null,
    deadline: Date.now() + 60_000,
    context: createContext({ directory }),
    ...more,
  };
}

/** A sink that writes down what it is told. */
export function recordingSink() {
  const heard = {
    sessions: [] as string[],
    handles: [] as RunHandle[],
    activity: [] as { kind: string; text: string }[],
    usage: new Map<string, Usage>(),
    transcript: null as string | null,
    asked: [] as string[],
  };
  const waiting: { test: () => boolean; done: () => void }[] = [];
  const look = () => {
    for (const one of [...waiting]) if (one.test()) one.done();
  };
  const sink: RunSink = {
    async session(id) {
      heard.sessions.push(id);
      look();
    },
    handle(handle) {
      heard.handles.push(handle);
      look();
    },
    activity(entry) {
      heard.activity.push(entry);
      look();
    },
    async usage({ key, total }) {
      heard.usage.set(key, total);
    },
    async ask(ask) {
      heard.asked.push(ask.key);
      return {
        approvalId: "a1",
        key: ask.key,
        decision: "approved",
        allowed: true,
        by: { human: "tester" },
        comment: null,
      };
    },
    transcript(text) {
      heard.transcript = text;
      look();
    },
  };
  const until = (test: () => boolean): Promise<void> =>
    new Promise((done) => {
      waiting.push({ test, done });
      look();
    });
  return {
    sink,
    heard,
    until,
    texts: () => heard.activity.filter(({ kind }) => kind === "text").map(({ text }) => text),
  };
}

/** Waits for a condition, however long the machine takes. */
export async function eventually(test: () => unknown | Promise<unknown>): Promise<void> {
  while (!(await test())) await new Promise((resolve) => setTimeout(resolve, 10));
}

/** Whether a process runs; one that is dead and that nobody has waited for does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
  if (process.platform !== "linux") return true;
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return !"ZX".includes(stat.slice(stat.lastIndexOf(")") + 2).charAt(0));
}
