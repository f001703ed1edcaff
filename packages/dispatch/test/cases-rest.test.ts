import { createId } from "@toolhaft/core";
import type { TaskEvent } from "@toolhaft/tasks";
import { describe, expect, it } from "vitest";
import type { AgentSpec, ApprovalPolicy } from "../src/index.ts";
import { createDispatch, functionRunner } from "../src/index.ts";
import { agent, basics, deferred, openDesk, session } from "./desk.ts";
import { eventually } from "./runs.ts";

const asking = (more: Partial<AgentSpec> = {}) =>
  agent(
    "asks",
    async (_request, sink) => {
      const { allowed, comment } = await sink.ask({ kind: "tool", key: "k1", title: "Delete the folder?" });
      return allowed ? "done after approval" : `refused: ${comment}`;
    },
    more,
  );

describe("approval: asking before", () => {
  it("approval-2 an approved run works on to its own end", async () => {
    const desk = await openDesk({ agents: [asking()] });
    const id = await desk.launch("asks");
    await desk.until(id, "awaiting_approval");
    const status = await desk.call("dispatch_status", {});
    expect(status.text).toContain("Delete the folder?");
    const approved = await desk.call("dispatch_approve", { task_id: id }, { asker: async () => ({ allow: true }) });
    expect(approved).toMatchObject({ ok: true, data: { decision: "approved", resumes: true } });
    expect((await desk.until(id, "completed")).result?.head).toBe("done after approval");
    const again = await desk.call("dispatch_approve", { task_id: id }, { asker: async () => ({ allow: true }) });
    expect(again).toMatchObject({ ok: false, error: { code: "conflict" } });
    expect(again.text).toContain("approved already, by main");
  });

  it("approval-2 a rejected run goes on with the reason, or ends where the policy says so", async () => {
    const desk = await openDesk({ agents: [asking()] });
    const id = await desk.launch("asks");
    await desk.until(id, "awaiting_approval");
    await desk.dispatch.api.reject(id, { human: "Ada" }, { comment: "too risky" });
    expect((await desk.until(id, "completed")).result?.head).toBe("refused: too risky");
    const policy: ApprovalPolicy = {
      decide: async ({ kind }) => (kind === "launch" ? "allow" : { approvers: "human", onReject: "end" }),
    };
    const strict = await openDesk({ agents: [asking()], approval: policy });
    const other = await strict.launch("asks");
    await strict.until(other, "awaiting_approval");
    await strict.dispatch.api.reject(other, { human: "Ada" }, { comment: "no" });
    expect((await strict.until(other, "error")).end?.reason).toBe("approval_rejected");
  });

  it("approval-3 neither the model that launched nor the asking agent approves for a person", async () => {
    const told = deferred<string>();
    const desk = await openDesk({
      agents: [
        agent("self", async ({ context, taskId }, sink) => {
          const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch_approve");
          const question = sink.ask({ kind: "tool", key: "k", title: "May I?" });
          await desk.until(taskId, "awaiting_approval");
          const result = await tool?.call({ task_id: taskId }, { ...context, asker: async () => ({ allow: true }) });
          told.resolve(result?.text ?? "");
          await question;
          return "went on";
        }),
      ],
    });
    const id = await desk.launch("self");
    expect(await told.promise).toMatch(/^denied: a task does not answer its own questions/);
    const owner = await desk.call("dispatch_approve", { task_id: id });
    expect(owner).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(owner.text).toContain("nobody can be asked here");
    expect((await desk.task(id)).status).toBe("awaiting_approval");
    await desk.dispatch.api.approve(id, { human: "Ada" });
    await desk.until(id, "completed");
  });

  it("approval-4 two questions are answered each to its own key, and asked once", async () => {
    const answers: string[] = [];
    const desk = await openDesk({
      agents: [
        agent("twice", async (_r, sink) => {
          for (const key of ["k1", "k2", "k1"]) {
            const { allowed, comment, key: about } = await sink.ask({ kind: "tool", key, title: `Question ${key}` });
            answers.push(`${about} ${allowed} ${comment ?? ""}`.trim());
          }
          return "end";
        }),
      ],
    });
    const id = await desk.launch("twice");
    const open = async () =>
      (await desk.tasks.api.backend(desk.workspace.directory).store.approvals({ taskId: id, open: true }))[0]?.key;
    await eventually(async () => (await open()) === "k1");
    await desk.dispatch.api.approve(id, { human: "Ada" });
    await eventually(async () => (await open()) === "k2");
    await desk.dispatch.api.reject(id, { human: "Ada" }, { comment: "not that" });
    await desk.until(id, "completed");
    expect(answers).toEqual(["k1 true", "k2 false not that", "k1 true"]);
    expect(await desk.tasks.api.backend(desk.workspace.directory).store.approvals({ taskId: id })).toHaveLength(2);
  });

  it("approval-1 a question from two levels down is seen at the root, survives a restart, and is answered there", async () => {
    const resumed: string[] = [];
    const agents = (get: () => Awaited<ReturnType<typeof openDesk>>): AgentSpec[] => [
      {
        name: "deep",
        description: "Asks.",
        runner: functionRunner(
          async ({ decision, prompt, session: id }, sink) => {
            await sink.session(id ?? "deep-1");
            if (decision !== null) {
              resumed.push(`${id} ${prompt}`);
              return `went on: ${decision.allowed}`;
            }
            return {
              kind: "paused",
              ask: { kind: "tool", key: "k", title: "Push?", taskId: "", attempt: 0, agent: "" },
            };
          },
          { caps: { resume: true } },
        ),
      },
      agent(
        "middle",
        async ({ context }) => {
          const tool = get().dispatch.tools.find(({ name }) => name === "dispatch");
          const result = await tool?.call({ subagent: "deep", prompt: "go", run_in_background: true }, context);
          return result?.text ?? "";
        },
        { dispatches: ["deep"] },
      ),
    ];
    let desk = await openDesk({ agents: agents(() => desk) });
    await desk.until(await desk.launch("middle"), "completed");
    const open = () => desk.tasks.api.backend(desk.workspace.directory).store.approvals({ open: true, root: session });
    await eventually(async () => (await open()).length === 1);
    const [question] = await open();
    const id = question?.taskId ?? "";
    expect((await desk.call("dispatch_status", { scope: "root" })).text).toContain("Push?");
    await desk.dispatch.close();
    desk = await desk.another({ agents: agents(() => desk) });
    await desk.dispatch.api.start();
    expect((await desk.call("dispatch_status", { scope: "root" })).text).toContain("Push?");
    await desk.dispatch.api.approve(id, { human: "Ada" });
    expect((await desk.until(id, "completed")).result?.head).toBe("went on: true");
    expect(resumed).toEqual(["deep-1 Your request was approved. Go on."]);
  });

  it("a run that waits when its dispatcher closes is asked again by the next, and answered from the record", async () => {
    const desk = await openDesk({ agents: [asking()] });
    const id = await desk.launch("asks");
    await desk.until(id, "awaiting_approval");
    await desk.dispatch.close();
    const later = await desk.another({ agents: [asking()] });
    await later.dispatch.api.start();
    await later.dispatch.api.approve(id, { human: "Ada" });
    expect((await later.until(id, "completed")).result?.head).toBe("done after approval");
    expect(await later.tasks.api.backend(desk.workspace.directory).store.approvals({ taskId: id })).toHaveLength(1);
  });

  it("expires as configured", async () => {
    const policy = (onExpire: "reject" | "allow"): ApprovalPolicy => ({
      decide: async ({ kind }) => (kind === "launch" ? "allow" : { approvers: "human", expiresMs: 200, onExpire }),
    });
    for (const [onExpire, words] of [
      ["reject", "refused: null"],
      ["allow", "done after approval"],
    ] as const) {
      const desk = await openDesk({ agents: [asking()], approval: policy(onExpire) });
      const id = await desk.launch("asks");
      expect((await desk.until(id, "completed", "error")).result?.head ?? "expired").toBe(words);
      expect(
        (await desk.call("dispatch_approve", { task_id: id }, { asker: async () => ({ allow: true }) })).text,
      ).toContain("expired already");
    }
  });

  it("without anybody there, a question to a person is rejected at once", async () => {
    const desk = await openDesk({ agents: [asking()], interactive: false });
    const result = await desk.call("dispatch", { subagent: "asks", prompt: "x", run_in_background: false });
    expect(result.text).toContain("refused: no one can approve");
  });

  it("launches wait for a yes where the policy wants one, and end on a no", async () => {
    let started = 0;
    const policy: ApprovalPolicy = { decide: async () => ({ approvers: "human" }) };
    const desk = await openDesk({ agents: [agent("careful", () => `${++started}`)], approval: policy });
    const one = await desk.data<{ outcome: string; taskId: string }>("dispatch", {
      subagent: "careful",
      prompt: "x",
      run_in_background: false,
    });
    expect(one.outcome).toBe("awaiting_approval");
    await new Promise((resolve) => setTimeout(resolve, 150));
    expect(started).toBe(0);
    await desk.dispatch.api.approve(one.taskId, { human: "Ada" });
    await desk.until(one.taskId, "completed");
    const rejecting = await openDesk({ approval: { decide: async () => "reject" } });
    expect(await rejecting.call("dispatch", { subagent: "echo", prompt: "x", run_in_background: true })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
  });

  it("the owner answers what is the owner's, and named agents what is theirs", async () => {
    const policy: ApprovalPolicy = {
      decide: async ({ kind }) => (kind === "launch" ? "allow" : { approvers: ["judge"] }),
    };
    const desk = await openDesk({ agents: [asking()], approval: policy });
    const id = await desk.launch("asks");
    await desk.until(id, "awaiting_approval");
    expect((await desk.call("dispatch_approve", { task_id: id })).text).toContain("only judge may answer");
    await desk.call("dispatch_approve", { task_id: id, comment: "fine" }, { agent: "judge", sessionId: "other" });
    await desk.until(id, "completed");
    const owned = await openDesk({
      agents: [asking()],
      approval: { decide: async ({ kind }) => (kind === "launch" ? "allow" : { approvers: "owner" }) },
    });
    const other = await owned.launch("asks");
    await owned.until(other, "awaiting_approval");
    expect(await owned.call("dispatch_approve", { task_id: other }, { sessionId: "stranger" })).toMatchObject({
      ok: false,
      error: { code: "denied" },
    });
    await owned.call("dispatch_reject", { task_id: other, reason: "later" });
    expect((await owned.until(other, "completed")).result?.head).toBe("refused: later");
  });
});

describe("progress: progress, checkpoints, streams", () => {
  const inside = (
    work: (
      call: (name: string, input: object) => Promise<{ ok: boolean; text: string }>,
      taskId: string,
    ) => Promise<string>,
  ) =>
    agent("inside", ({ context, taskId }) =>
      work(async (name, input) => {
        const tool = desk.dispatch.tools.find((one) => one.name === name);
        if (tool === undefined) throw new Error(name);
        return tool.call(input, context);
      }, taskId),
    );
  let desk: Awaited<ReturnType<typeof openDesk>>;

  it("progress-1 an ended task's reports are all there, in order", async () => {
    desk = await openDesk({
      agents: [
        inside(async (call, id) => {
          for (let step = 1; step <= 5; step++)
            await call("dispatch_progress", {
              task_id: id,
              stage: "tests",
              message: `step ${step}`,
              percentage: step * 10,
            });
          return "ok";
        }),
      ],
    });
    const id = await desk.launch("inside");
    await desk.until(id, "completed");
    const stream = await desk.data<{ events: TaskEvent[]; ended: boolean }>("dispatch_stream", { task_id: id });
    expect(stream.events.map(({ data }) => data.message)).toEqual(["step 1", "step 2", "step 3", "step 4", "step 5"]);
    expect(stream.ended).toBe(true);
    const seqs = stream.events.map(({ seq }) => seq);
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
    const since = await desk.data<{ events: TaskEvent[] }>("dispatch_stream", {
      task_id: id,
      since: "2020-01-01T00:00:00+08:00",
    });
    expect(since.events).toHaveLength(5);
  });

  it("progress-2 fifty checkpoints at once are fifty", async () => {
    desk = await openDesk({
      agents: [
        inside(async (call, id) => {
          const all = await Promise.all(
            Array.from({ length: 50 }, (_, at) =>
              call("dispatch_checkpoint", { task_id: id, phase: `p${at}`, completed_items: [], remaining_items: [] }),
            ),
          );
          return String(all.filter(({ ok }) => ok).length);
        }),
      ],
    });
    const id = await desk.launch("inside");
    expect((await desk.until(id, "completed")).result?.head).toBe("50");
    const { events } = await desk.data<{ events: TaskEvent[] }>("dispatch_stream", {
      task_id: id,
      kinds: ["checkpoint"],
      limit: 100,
    });
    expect(new Set(events.map(({ seq }) => seq)).size).toBe(50);
  });

  it("progress-3 ids that are paths, and tasks of somebody else", async () => {
    desk = await openDesk();
    for (const task_id of ["../../x", "task_1", "x".repeat(1_000_000)])
      expect(await desk.call("dispatch_progress", { task_id, stage: "a", message: "b", percentage: 1 })).toMatchObject({
        ok: false,
        error: { code: "invalid_input" },
      });
    const id = await desk.launch("hang");
    await desk.until(id, "running");
    expect(
      await desk.call(
        "dispatch_progress",
        { task_id: id, stage: "a", message: "b", percentage: 1 },
        { sessionId: "another" },
      ),
    ).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(
      await desk.call("dispatch_progress", { task_id: id, stage: "a", message: "b", percentage: 1 }),
    ).toMatchObject({ ok: false, error: { code: "denied" } });
    expect(
      await desk.call(
        "dispatch_progress",
        { task_id: id, stage: "a", message: "b", percentage: 1 },
        { task: { id, token: "wrong" } },
      ),
    ).toMatchObject({ ok: false, error: { code: "denied" } });
  });

  it("progress-4 a reader that comes back misses nothing and sees nothing twice", async () => {
    const gate = deferred();
    desk = await openDesk({
      agents: [
        inside(async (call, id) => {
          for (let step = 0; step < 4; step++)
            await call("dispatch_checkpoint", { task_id: id, phase: `first ${step}` });
          await gate.promise;
          for (let step = 0; step < 20; step++)
            await call("dispatch_checkpoint", { task_id: id, phase: `then ${step}` });
          return "ok";
        }),
      ],
    });
    const id = await desk.launch("inside");
    const read = (after_seq: number, from = desk) =>
      from.data<{ events: TaskEvent[]; nextSeq: number }>("dispatch_stream", {
        task_id: id,
        after_seq,
        kinds: ["checkpoint"],
        limit: 500,
      });
    await eventually(async () => (await read(0)).events.length === 4);
    const { nextSeq } = await read(0);
    gate.resolve();
    await desk.until(id, "completed");
    const rest = await read(nextSeq);
    expect(rest.events.map(({ data }) => data.phase)).toEqual(Array.from({ length: 20 }, (_, step) => `then ${step}`));
    const later = await desk.another();
    expect(await read(nextSeq, later)).toEqual(rest);
  });

  it("a jump from nothing to the end tells of no milestone, a report at 80 of the highest only", async () => {
    desk = await openDesk({
      agents: [
        inside(async (call, id) => {
          await call("dispatch_progress", { task_id: id, stage: "a", message: "b", percentage: 80 });
          await call("dispatch_progress", { task_id: id, stage: "a", message: "b", percentage: 85 });
          await call("dispatch_progress", { task_id: id, stage: "a", message: "b", percentage: 100 });
          return "ok";
        }),
      ],
    });
    const id = await desk.launch("inside");
    await desk.until(id, "completed");
    const { notices } = await desk.data<{ notices: { id: string }[] }>("dispatch_inbox", {});
    expect(notices.map((notice) => notice.id)).toEqual([`${id}:1:progress:75`, `${id}:1:completed`]);
  });

  it("more than ten reports a second are refused with the time to wait", async () => {
    desk = await openDesk({
      agents: [
        inside(async (call, id) => {
          const all = [];
          for (let step = 0; step < 40; step++)
            all.push(await call("dispatch_progress", { task_id: id, stage: "a", message: "b", percentage: 1 }));
          return all.find(({ ok }) => !ok)?.text ?? "all were taken";
        }),
      ],
    });
    const text = (await desk.until(await desk.launch("inside"), "completed")).result?.head ?? "";
    if (text !== "all were taken") expect(text).toContain("at most 10 reports a second");
  });

  it("a checkpoint reaches the next attempt", async () => {
    const prompts: string[] = [];
    desk = await openDesk({
      agents: [
        agent("again", async ({ context, taskId, prompt }) => {
          prompts.push(prompt);
          if (prompts.length > 1) return "done";
          const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch_checkpoint");
          await tool?.call(
            { task_id: taskId, phase: "lexing", completed_items: ["names"], remaining_items: ["numbers", "strings"] },
            context,
          );
          return { kind: "failed", message: "overloaded", retryable: true };
        }),
      ],
    });
    const id = await desk.launch("again", "port the lexer");
    await desk.until(id, "completed");
    expect(prompts[1]).toMatch(
      /Last checkpoint: lexing\nDone: names\nRemaining: numbers; strings\n\n.*overloaded[\s\S]*port the lexer$/,
    );
  });
});

describe("shutdown, instance", () => {
  it.each(["release", "cancel", "wait"] as const)("shutdown-1 closing with %s", async (onClose) => {
    const gate = deferred();
    const desk = await openDesk({
      agents: [
        agent("held", async (_r, sink, signal) => {
          sink.activity({ kind: "text", text: "working" });
          await Promise.race([
            gate.promise,
            new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("x")))),
          ]);
          return "ended";
        }),
      ],
      onClose,
    });
    const ids = [await desk.launch("held"), await desk.launch("held")];
    for (const id of ids) await desk.until(id, "running");
    const { unfinished } = await desk.dispatch.api.drain({ timeoutMs: 200 });
    expect(unfinished.map(({ id }) => id).sort()).toEqual([...ids].sort());
    if (onClose === "wait") setTimeout(() => gate.resolve(), 50);
    await desk.dispatch.close();
    for (const id of ids) {
      const task = await desk.task(id);
      if (onClose === "release") expect(task).toMatchObject({ state: "queued", attempt: 1 });
      else expect(task.status).toBe(onClose === "cancel" ? "cancelled" : "completed");
    }
    if (onClose !== "release") return;
    gate.resolve();
    const later = await desk.another();
    await later.dispatch.api.start();
    for (const id of ids) expect((await later.until(id, "completed")).attempt).toBe(1);
  });

  it("instance-1 two dispatchers in one program see nothing of each other", async () => {
    const one = await openDesk();
    const two = await openDesk();
    const ids = await Promise.all(Array.from({ length: 10 }, () => one.launch("echo")));
    for (const id of ids) await one.until(id, "completed");
    const { tasks } = await two.data<{ tasks: unknown[] }>("dispatch_status", { scope: "store" });
    expect(tasks).toEqual([]);
    expect((await two.data<{ notices: unknown[] }>("dispatch_inbox", {})).notices).toEqual([]);
    expect(await two.call("dispatch_output", { task_id: ids[0] })).toMatchObject({
      ok: false,
      error: { code: "not_found" },
    });
    expect(await two.dispatch.api.metricsText()).not.toContain('launched_total{agent="echo"');
  });

  it("instance-2 a new conversation of the same session finds its tasks", async () => {
    const desk = await openDesk();
    const ids = [await desk.launch("echo"), await desk.launch("hang"), await desk.launch("fail")];
    await desk.until(ids[0] ?? "", "completed");
    await desk.until(ids[1] ?? "", "running");
    const other = await desk.another();
    const status = await other.call("dispatch_status", {});
    for (const id of ids) expect(status.text).toContain(id);
    expect((await other.call("dispatch_output", { task_id: ids[0] })).text).toContain("echo: do it");
  });

  it("fence-2 a run of ten leases is done once, though another dispatcher waits", async () => {
    let started = 0;
    const long = agent("long", async () => {
      started += 1;
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      return "once";
    });
    const desk = await openDesk({ agents: [long], limits: { leaseMs: 300 } });
    const other = await desk.another();
    await other.dispatch.api.start();
    const id = await desk.launch("long");
    expect(await desk.until(id, "completed", "error")).toMatchObject({ status: "completed", attempt: 1, fence: 1 });
    expect(started).toBe(1);
  });

  it("visibility root: another root's ids are not there", async () => {
    const desk = await openDesk({}, { visibility: "root" });
    const id = await desk.launch("echo");
    await desk.until(id, "completed");
    for (const tool of ["dispatch_output", "dispatch_stream", "dispatch_cancel"])
      expect(await desk.call(tool, { task_id: id }, { sessionId: "another" })).toMatchObject({
        ok: false,
        error: { code: "not_found" },
      });
  });

  it("unknown options and limits that cannot be are refused by name", () => {
    const agents = basics;
    const bad: [object, RegExp][] = [
      [{ agents, lanes: { default: { limit: 2, reservedSync: 2 } } }, /lanes\.default\.reservedSync/],
      [{ agents, limits: { leaseMs: 0 } }, /limits\.leaseMs/],
      [{ agents, unknown: 1 }, /unknown option unknown/],
      [{ agents, limits: { wall: 1 } }, /limits\.wall/],
      [{ agents, budget: { warnAt: 2 } }, /budget\.warnAt/],
      [{ agents, onClose: "stop" }, /onClose/],
      [{ agents: [...agents, ...agents] }, /stands there twice/],
      [{ agents: [{ ...agents[0], limits: { idleMs: -1 } }] }, /agents\.echo\.limits\.idleMs/],
    ];
    for (const [options, message] of bad)
      expect(() => createDispatch(options as Parameters<typeof createDispatch>[0]), String(message)).toThrow(message);
  });

  it("what a wrong call asks for is said, and nothing is made", async () => {
    const desk = await openDesk({
      agents: [...basics, asking(), agent("secret", () => "x")],
      topLevel: ["echo", "hang", "fail"],
    });
    const ended = await desk.launch("echo");
    await desk.until(ended, "completed");
    const unknown = `task_${createId()}`;
    const base = { subagent: "echo", prompt: "x", run_in_background: true };
    const wrong: [object, string, RegExp?][] = [
      [{ ...base, prompt: "  " }, "invalid_input", /prompt is blank/],
      [{ ...base, prompt: "a\0b" }, "invalid_input", /NUL/],
      [{ ...base, prompt: "a\ud800" }, "invalid_input", /surrogate/],
      [{ ...base, prompt: "x".repeat(1_000_001) }, "too_large", /1000001 characters; at most 1000000/],
      [{ ...base, subagent: "secret" }, "not_found", /echo, hang, fail/],
      [{ ...base, subagent: "nobody" }, "not_found", /echo, hang, fail/],
      [{ ...base, session_id: "task_1" }, "invalid_input"],
      [{ ...base, session_id: unknown }, "not_found"],
      [{ ...base, session_id: ended }, "unsupported"],
      [{ ...base, subagent: "hang", session_id: ended }, "invalid_input", /done by echo/],
      [{ ...base, depends_on: [unknown] }, "invalid_input"],
      [{ ...base, depends_on: Array.from({ length: 51 }, () => unknown) }, "invalid_input"],
      [{ ...base, timeout_ms: 0 }, "invalid_input"],
      [{ ...base, priority: 101 }, "invalid_input"],
      [{ ...base, max_tokens: 0 }, "invalid_input"],
    ];
    for (const [input, code, text] of wrong) {
      const result = await desk.call("dispatch", input);
      expect(result, JSON.stringify(input).slice(0, 200)).toMatchObject({ ok: false, error: { code } });
      if (text !== undefined) expect(result.text).toMatch(text);
    }
    const running = await desk.launch("hang");
    await desk.until(running, "running");
    expect(await desk.call("dispatch", { ...base, subagent: "hang", session_id: running })).toMatchObject({
      ok: false,
      error: { code: "conflict" },
    });
    const { tasks } = await desk.data<{ tasks: unknown[] }>("dispatch_status", { scope: "store" });
    expect(tasks).toHaveLength(2);
    for (const [name, input] of [
      ["dispatch_output", { task_id: ended, attempt: 7 }],
      ["dispatch_stream", { task_id: ended, since: "yesterday" }],
      ["dispatch_stream", { task_id: ended, since: "2026-02-30" }],
      ["dispatch_stream", { task_id: ended, limit: 501 }],
      ["dispatch_status", { limit: 101 }],
      ["dispatch_progress", { task_id: ended, stage: "a", message: "b", percentage: 101 }],
      ["dispatch_progress", { task_id: ended, stage: "a", message: "b", percentage: -1 }],
      ["dispatch_reject", { task_id: ended, reason: " " }],
    ] as const)
      expect(await desk.call(name, input), name).toMatchObject({ ok: false, error: { code: "invalid_input" } });
    expect(await desk.call("dispatch_approve", { task_id: ended })).toMatchObject({
      ok: false,
      error: { code: "conflict" },
    });
  });
});
