import { createTasks } from "@toolhaft/tasks";
import { type Setting, type ToolFixtures, testFamily } from "@toolhaft/testing";
import { createDispatch, functionRunner } from "../src/index.ts";

const unknown = "task_01KBQ7W3M2V8Y0T4N6R1C5D9EA";
const badId = { title: "an id of another form", input: { task_id: "task_1" }, text: "task id" };
const missing = { title: "a task that is not there", input: { task_id: unknown }, code: "not_found" as const };

/** Launches an agent and gives the id. */
async function launch(setting: Setting, subagent: string): Promise<string> {
  const { data } = await setting.call("dispatch", { subagent, prompt: "x", run_in_background: true });
  return (data as { taskId: string }).taskId;
}

/** A task of the setting, for fixtures whose input needs its id. */
const ids = new WeakMap<Setting, string>();
const idOf = (setting: Setting): string => ids.get(setting) ?? unknown;
const ended = async (setting: Setting): Promise<void> => {
  const id = await launch(setting, "echo");
  ids.set(setting, id);
  await setting.call("dispatch_output", { task_id: id, wait_ms: 60_000 });
};
const asking = async (setting: Setting): Promise<void> => {
  const id = await launch(setting, "asks");
  ids.set(setting, id);
  for (;;) {
    const { data } = await setting.call("dispatch_status", { task_id: id });
    if ((data as { approvals: unknown[] }).approvals.length > 0) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};
/** The task's own calls carry the session of the claim; here a claim by the calling session stands for it. */
const inTask = async (setting: Setting): Promise<void> => {
  const tasks = createTasks();
  const { queue } = tasks.api.backend(setting.workspace.directory);
  const by = { agent: "main", sessionId: String(setting.context.sessionId) };
  const [posted] = await queue.post([
    { kind: "board", title: "own", body: "x", createdBy: by, ownerSession: by.sessionId, rootSession: by.sessionId },
  ]);
  const id = posted?.task.id ?? "";
  await queue.claim({ by, kind: "board", taskId: id, leaseMs: 600_000 });
  ids.set(setting, id);
  await tasks.close();
};

const tools: Record<string, ToolFixtures> = {
  dispatch: {
    valid: [
      { title: "waits for an answer", input: { subagent: "echo", prompt: "hello", run_in_background: false } },
      {
        title: "in the background",
        input: { subagent: "echo", prompt: "hello", run_in_background: true, priority: 5 },
      },
    ],
    invalid: [
      { title: "no prompt", input: { subagent: "echo", run_in_background: true } },
      { title: "a blank prompt", input: { subagent: "echo", prompt: " ", run_in_background: true }, text: "blank" },
      { title: "an unknown agent", input: { subagent: "x", prompt: "y", run_in_background: true }, code: "not_found" },
    ],
    finer: ["prompt", "description", "dedupe_key"],
  },
  dispatch_output: {
    valid: [{ title: "an ended task", prepare: ended, input: (setting: Setting) => ({ task_id: idOf(setting) }) }],
    invalid: [badId, missing, { title: "tail with offset", input: { task_id: unknown, tail: true, offset: 1 } }],
  },
  dispatch_cancel: {
    valid: [{ title: "an ended task", prepare: ended, input: (setting: Setting) => ({ task_id: idOf(setting) }) }],
    invalid: [badId, missing],
    finer: ["reason"],
  },
  dispatch_approve: {
    valid: [{ title: "what a task asks", prepare: asking, input: (setting: Setting) => ({ task_id: idOf(setting) }) }],
    invalid: [badId, missing],
    context: { asker: async () => ({ allow: true }) },
    finer: ["comment"],
  },
  dispatch_reject: {
    valid: [
      {
        title: "what a task asks",
        prepare: asking,
        input: (setting: Setting) => ({ task_id: idOf(setting), reason: "too risky" }),
      },
    ],
    invalid: [{ title: "without a reason", input: { task_id: unknown } }],
    context: { asker: async () => ({ allow: true }) },
    finer: ["reason"],
  },
  dispatch_metrics: {
    valid: [
      { title: "as a summary", input: {} },
      { title: "to a file", input: { format: "prometheus", export_path: "out/metrics.prom" } },
    ],
    invalid: [{ title: "an unknown window", input: { window: "1y" } }],
  },
  dispatch_status: {
    valid: [
      { title: "a list", input: {} },
      { title: "one task", prepare: ended, input: (setting: Setting) => ({ task_id: idOf(setting) }) },
    ],
    invalid: [{ title: "too many", input: { limit: 101 } }, badId, missing],
  },
  dispatch_progress: {
    valid: [
      {
        title: "of the own task",
        prepare: inTask,
        input: (setting: Setting) => ({ task_id: idOf(setting), stage: "tests", message: "half", percentage: 50 }),
      },
    ],
    invalid: [
      { title: "over 100 percent", input: { task_id: unknown, stage: "a", message: "b", percentage: 101 } },
      { title: "not there", input: { task_id: unknown, stage: "a", message: "b", percentage: 1 }, code: "not_found" },
    ],
    finer: ["stage", "message"],
  },
  dispatch_stream: {
    valid: [{ title: "an ended task", prepare: ended, input: (setting: Setting) => ({ task_id: idOf(setting) }) }],
    invalid: [badId, missing, { title: "no time", input: { task_id: unknown, since: "yesterday" } }],
    finer: ["kinds[]"],
  },
  dispatch_checkpoint: {
    valid: [
      {
        title: "of the own task",
        prepare: inTask,
        input: (setting: Setting) => ({ task_id: idOf(setting), phase: "lexing", completed_items: ["a"] }),
      },
    ],
    invalid: [{ title: "no phase", input: { task_id: unknown } }],
    finer: ["phase", "completed_items[]", "remaining_items[]"],
    unsupported: ["anthropic-strict", "openai-strict"],
  },
  dispatch_inbox: {
    valid: [{ title: "empty", input: {} }],
    invalid: [{ title: "too many", input: { limit: 51 } }],
  },
  agent_list: {
    valid: [{ title: "all", input: {} }],
    invalid: [{ title: "a number", input: { query: 7 } }],
    finer: ["query"],
  },
};

testFamily({
  make: () =>
    createDispatch({
      agents: [
        { name: "echo", description: "Repeats.", runner: functionRunner(({ prompt }) => prompt) },
        {
          name: "asks",
          description: "Asks first.",
          runner: functionRunner(async (_request, sink) => {
            const { allowed } = await sink.ask({ kind: "tool", key: "k", title: "May I?" });
            return String(allowed);
          }),
        },
      ],
      pollMs: 50,
    }),
  tools,
  golden: new URL("./golden/", import.meta.url),
});
