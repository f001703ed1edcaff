import { writeFile } from "node:fs/promises";
import { createDispatch, functionRunner } from "@toolhaft/dispatch";
import { createTasks } from "@toolhaft/tasks";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { chooseFamilies, registry } from "../src/families.ts";
import { command } from "./command.ts";

const run = (words: string[], cwd: string, env: NodeJS.ProcessEnv = {}) => command(words, { cwd, env }, registry);
const unknown = "task_01KBQ7W3M2V8Y0T4N6R1C5D9EA";

/** A dispatcher whose subagent asks so many questions and tells the decisions. */
async function asking(questions: number, path?: string) {
  const workspace = await tempWorkspace();
  const tasks = createTasks(path === undefined ? {} : { path: workspace.path(path) });
  const runner = functionRunner(async (_request, sink) => {
    const heard: string[] = [];
    for (let n = 1; n <= questions; n++) {
      const { allowed, comment, by } = await sink.ask({ kind: "tool", key: `k${n}`, title: `Delete | file ${n}?` });
      heard.push(`${allowed} ${comment} ${typeof by === "object" && "human" in by ? "human" : "other"}`);
    }
    return heard.join("; ");
  });
  const agents = [{ name: "cleaner", description: "Cleans.", runner }];
  const dispatch = createDispatch({ agents, tasks, directory: workspace.directory, pollMs: 20 });
  const call = (name: string, input: object) =>
    dispatch.tools
      .find((tool) => tool.name === name)
      ?.call(input, { directory: workspace.directory, sessionId: "owner" });
  const { store } = tasks.api.backend(workspace.directory);
  await call("dispatch", { subagent: "cleaner", prompt: "clean", run_in_background: true });
  const [task] = (await store.find({ limit: 1 })).items;
  const id = task?.id ?? "";
  const until = async (status: string) => {
    while ((await store.get(id))?.status !== status) await new Promise((resolve) => setTimeout(resolve, 10));
  };
  await until("awaiting_approval");
  const close = async () => {
    await dispatch.close();
    await tasks.close();
    await workspace.remove();
  };
  return { workspace, id, store, until, close };
}

describe("toolhaft dispatch", () => {
  it("lists what is open, and a person's yes and no reach the subagent that waits in another process", async () => {
    const { workspace, id, store, until, close } = await asking(2);
    const { directory } = workspace;
    const listed = await run(["dispatch", "approvals"], directory);
    expect(listed).toMatchObject({ code: 0, err: "" });
    expect(listed.out).toContain(id);
    expect(listed.out).toContain("Delete | file 1?");
    const [open] = JSON.parse((await run(["dispatch", "approvals", "--root", "owner", "--json"], directory)).out);
    expect(open).toMatchObject({ taskId: id, state: "open", agent: "cleaner", key: "k1" });
    expect((await run(["dispatch", "approvals", "--root", "other"], directory)).out).toBe("no open questions\n");
    const yes = await run(["dispatch", "approve", id, "--approval", open.id, "--comment", "this one"], directory);
    expect(yes).toMatchObject({ code: 0, err: "" });
    expect(yes.out).toMatch(/^Approved; task_/);
    const again = await run(["dispatch", "approve", id, "--approval", open.id], directory);
    expect(again).toMatchObject({ code: 1, out: "" });
    while ((await store.approvals({ taskId: id })).length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
    await until("awaiting_approval");
    const no = await run(["dispatch", "reject", id, "--comment", "not that one", "--json"], directory);
    expect(JSON.parse(no.out)).toMatchObject({ taskId: id, by: { human: expect.any(String) } });
    await until("completed");
    expect((await store.get(id))?.result?.head).toBe("true this one human; false not that one human");
    const late = await run(["dispatch", "approve", id], directory);
    expect(late).toMatchObject({ code: 1, out: "", err: expect.stringContaining("rejected") });
    await close();
  });

  it("looks where --store and TOOLHAFT_STORE say, by folder or by file", async () => {
    const { workspace, id, close } = await asking(1, "state/tasks.db");
    const { directory } = workspace;
    expect((await run(["dispatch", "approvals"], directory)).out).not.toContain(id);
    expect((await run(["dispatch", "approvals", "--store", "state"], directory)).out).toContain(id);
    const byName = await run(["dispatch", "approvals"], directory, { TOOLHAFT_STORE: workspace.path("state") });
    expect(byName.out).toContain(id);
    const byFile = await run(
      ["call", "task_search", '{"query":"*"}', "--store", workspace.path("state/tasks.db")],
      directory,
    );
    expect(byFile.out).toContain(id);
    await close();
  });

  it.each<[string, string[], number, RegExp]>([
    ["no action", ["dispatch"], 2, /missing required argument/],
    ["an unknown action", ["dispatch", "delete"], 2, /Allowed choices are approvals/],
    ["no task", ["dispatch", "approve"], 2, /needs the task's id/],
    ["what is no id", ["dispatch", "approve", "../x"], 2, /task/],
    ["a task that is not there", ["dispatch", "approve", unknown], 1, /no such task/],
    ["a no without a reason", ["dispatch", "reject", unknown], 2, /needs a reason/],
    [
      "a database that is not there",
      ["dispatch", "approvals", "--store", "postgres://u:secret@127.0.0.1:1/d"],
      3,
      /127\.0\.0\.1/,
    ],
  ])("%s", async (_what, words, code, message) => {
    const workspace = await tempWorkspace();
    const ran = await run(words, workspace.directory);
    expect(ran.err).toMatch(message);
    expect(ran.err).not.toContain("secret");
    expect(ran).toMatchObject({ code, out: "" });
    await workspace.remove();
  });
});

it("takes no answer from the shell of a subagent", async () => {
  const workspace = await tempWorkspace();
  const env = { TOOLHAFT_TASK: unknown, TOOLHAFT_TASK_TOKEN: "its own" };
  for (const words of [["approve"], ["reject", "--comment", "no"]]) {
    const ran = await run(["dispatch", ...words, unknown], workspace.directory, env);
    expect(ran).toMatchObject({ code: 4, out: "" });
    expect(ran.err).toContain("belongs to a subagent");
  }
  await workspace.remove();
});

describe("the dispatch family of the command", () => {
  const names = (given: readonly string[], options?: object) =>
    chooseFamilies(given, registry, [], options === undefined ? {} : { options: { dispatch: { ...options } } }).map(
      ({ name }) => name,
    );

  it("is served by name, and by `all` only where the config lists its agents", () => {
    expect(names([])).not.toContain("dispatch");
    expect(names(["all"])).not.toContain("dispatch");
    expect(names(["all", "dispatch"])).toContain("dispatch");
    expect(names(["all"], { agents: {} })).toContain("dispatch");
    expect(names(["dispatch"])).toEqual(["dispatch"]);
  });

  it("takes its agents from the config, and says what is wrong there", async () => {
    const workspace = await tempWorkspace();
    const file = workspace.path("settings.json");
    const withAgents = async (agents: unknown) => {
      await writeFile(file, JSON.stringify({ options: { dispatch: { agents } } }));
      return run(["call", "agent_list", "{}", "--config", file], workspace.directory);
    };
    const good = await withAgents({
      reviewer: { preset: "codex", description: "Reviews code.", access: "read-only", dispatches: ["helper"] },
      helper: { preset: "claude", description: "Helps.", model: "sonnet" },
    });
    expect(good).toMatchObject({ code: 0 });
    expect(good.out).toContain("reviewer (lane reviewer, 0 of 4 busy): Reviews code.");
    expect(good.out).toContain("helper (lane sonnet");
    for (const [agents, message] of [
      [[], /agents is an object/],
      [{ a: "codex" }, /agents\.a is an object/],
      [{ a: { preset: "emacs", description: "x" } }, /preset is "emacs"; it may be claude, codex/],
      [{ a: { preset: "codex" } }, /description is missing/],
      [{ a: { preset: "codex", description: "x", access: "all" } }, /access is "all"/],
      [{ a: { preset: "codex", description: "x", dispatches: 3 } }, /dispatches is/],
      [{ a: { preset: "codex", description: "x", acess: "full" } }, /acess is unknown: did you mean access/],
    ] as const) {
      const ran = await withAgents(agents);
      expect(ran.err).toMatch(message);
      expect(ran).toMatchObject({ code: 2, out: "" });
    }
    await workspace.remove();
  });

  it("a program that a dispatcher started works for its task, by the environment it got", async () => {
    const { workspace, id, store, close } = await asking(1);
    const env = { TOOLHAFT_TASK: id, TOOLHAFT_TASK_TOKEN: "wrong", TOOLHAFT_STORE: workspace.path(".toolhaft") };
    const progress = JSON.stringify({ task_id: id, stage: "tests", message: "half", percentage: 50 });
    const wrong = await run(["call", "dispatch_progress", progress], workspace.directory, env);
    expect(wrong).toMatchObject({ code: 4, out: "" });
    expect(wrong.err).toContain("token");
    expect((await store.events(id, { kinds: ["progress"], limit: 10 })).items).toEqual([]);
    await close();
  });
});
