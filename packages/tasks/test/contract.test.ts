import type { Setting } from "@toolhaft/testing";
import { testFamily } from "@toolhaft/testing";
import { createTasks } from "../src/index.ts";

const posted = async (setting: Setting, more: Record<string, unknown> = {}): Promise<string> => {
  const result = await setting.call("task_post", { title: "a task", body: "do it", ...more });
  return (result.data as { task: { id: string } }).task.id;
};
const ids = new WeakMap<object, string>();
const idOf = (setting: Setting): string => ids.get(setting.context) ?? "";
const withTask = (more: Record<string, unknown> = {}) => ({
  prepare: async (setting: Setting) => void ids.set(setting.context, await posted(setting, more)),
});
const claimed = {
  async prepare(setting: Setting) {
    ids.set(setting.context, await posted(setting));
    await setting.call("task_claim", {});
  },
};
const completed = {
  async prepare(setting: Setting) {
    await claimed.prepare(setting);
    await setting.call("task_complete", { task_id: idOf(setting), result: "all of it" });
  },
};
const byId =
  (more: Record<string, unknown> = {}) =>
  (setting: Setting) => ({ task_id: idOf(setting), ...more });
const noId = { title: "an id of another form", input: { task_id: "task_1" }, text: /task_id is not a task id/ };

testFamily({
  make: () => createTasks(),
  golden: new URL("./golden/", import.meta.url),
  processes: { module: new URL("../src/index.ts", import.meta.url), factory: "createTasks" },
  tools: {
    task_post: {
      valid: [
        { title: "a task", input: { title: "Port the lexer tests", body: "All of them.", priority: 5 } },
        {
          title: "one for somebody, later",
          input: {
            title: "t",
            body: "b",
            assignee: "coder",
            not_before: "2027-01-01",
            dedupe_key: "k",
            max_attempts: 2,
            lease_secs: 60,
            metadata: { a: 1 },
          },
        },
      ],
      invalid: [{ title: "a blank title", input: { title: " ", body: "b" }, text: /blank/ }],
      finer: ["title", "body", "assignee", "dedupe_key"],
      unsupported: ["anthropic-strict", "openai-strict"],
    },
    task_claim: {
      valid: [
        { title: "nothing there", input: {} },
        { title: "the next one", ...withTask(), input: {} },
        { title: "a named one", ...withTask(), input: byId({ lease_secs: 10 }) },
      ],
      invalid: [{ title: "a priority that is no number", input: { priority_filter: "high" } }, noId],
    },
    task_complete: {
      valid: [{ title: "the holder", ...claimed, input: byId({ result: "done" }) }],
      invalid: [
        { title: "nobody's claim", ...withTask(), input: byId({ result: "x" }), code: "conflict" },
        { ...noId, input: { task_id: "../x", result: "r" } },
      ],
      finer: ["result"],
    },
    task_update: {
      valid: [
        { title: "renew", ...claimed, input: byId({ action: "renew" }) },
        { title: "release", ...claimed, input: byId({ action: "release" }) },
        { title: "fail", ...claimed, input: byId({ action: "fail", reason: "cannot" }) },
        { title: "cancel", ...withTask(), input: byId({ action: "cancel" }) },
      ],
      invalid: [{ title: "an unknown action", ...withTask(), input: byId({ action: "stop" }) }],
      finer: ["reason"],
    },
    task_list: {
      valid: [
        { title: "empty", input: {} },
        { title: "one", ...withTask(), input: { status: "pending", limit: 1 } },
      ],
      invalid: [
        { title: "an unknown status", input: { status: "done" } },
        { title: "no page", input: { limit: 0 } },
      ],
      finer: ["assignee", "created_by"],
    },
    task_status: {
      valid: [
        { title: "open", ...withTask(), input: byId() },
        { title: "done", ...completed, input: byId() },
      ],
      invalid: [noId],
    },
    task_search: {
      valid: [
        { title: "all", ...completed, input: { query: "*", include_result: true } },
        { title: "none", input: { query: "nothing" } },
      ],
      invalid: [{ title: "a date that is none", input: { query: "*", from_date: "yesterday" }, text: /from_date/ }],
      finer: ["query", "agent", "parent_session", "root_session"],
    },
    task_graph: {
      valid: [
        { title: "as text", ...completed, input: {} },
        { title: "as a flowchart", ...withTask(), input: { root_session: "all", format: "mermaid" } },
      ],
      invalid: [
        { title: "no depth", input: { depth: 0 } },
        { title: "nothing there", input: {}, code: "not_found" },
      ],
      finer: ["root_session"],
    },
    task_budget: {
      valid: [{ title: "of the own root", ...completed, input: { detail: true } }],
      invalid: [{ title: "an unknown session", input: { session_id: "nobody" }, code: "not_found" }],
      finer: ["session_id"],
    },
    task_chronology: {
      valid: [
        { title: "by hour", ...completed, input: {} },
        { title: "by agent", ...withTask(), input: { group_by: "agent", tz: "Asia/Shanghai" } },
      ],
      invalid: [{ title: "an unknown zone", input: { tz: "Mars" }, text: /tz/ }],
    },
    task_export: {
      valid: [
        { title: "inline", ...completed, input: byId({ include_events: true }) },
        { title: "to a file", ...completed, input: byId({ format: "json", export_path: "out/task.json" }) },
      ],
      invalid: [
        {
          title: "a transcript that nobody kept",
          ...completed,
          input: byId({ include_messages: true }),
          code: "unsupported",
        },
        noId,
      ],
    },
    task_concurrency: {
      valid: [
        { title: "nothing runs", input: {} },
        { title: "to a file", input: { format: "json", export_path: "lanes.json" } },
      ],
      invalid: [{ title: "an unknown format", input: { format: "yaml" } }],
    },
    task_retry: {
      valid: [
        { title: "one that has ended", ...completed, input: byId({ modify_prompt: "again" }) },
        { title: "with counters at zero", ...completed, input: byId({ reset_budget: true }) },
      ],
      invalid: [{ title: "one that has not", ...withTask(), input: byId(), code: "conflict" }],
      finer: ["modify_prompt"],
      context: { asker: async () => ({ allow: true }) },
    },
  },
});
