import { createId } from "@toolhaft/core";
import { fakeClock, runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { codex, functionRunner, processRunner } from "../src/index.ts";
import { agent, basics, deferred, openDesk, session } from "./desk.ts";
import { agentProgram, eventually, isAlive } from "./runs.ts";

const cli = (name: string, format = "plain") => ({
  name,
  description: "The agent program of the tests.",
  runner:
    format === "codex"
      ? codex({ command: process.execPath, args: [agentProgram], env: { AGENT_FORMAT: "codex" } })
      : processRunner({ command: process.execPath, args: [agentProgram], graceMs: 200 }),
});

describe("limits: time limits", () => {
  it("limits-1 an agent that never starts ends as not_started, not as inactive", async () => {
    const desk = await openDesk({
      agents: [agent("unborn", () => new Promise(() => undefined))],
      limits: { startMs: 200, cancelGraceMs: 100 },
    });
    const id = await desk.launch("unborn");
    const task = await desk.until(id, "error");
    expect(task.end).toMatchObject({ reason: "not_started", retryable: true });
    expect(task.end?.message).toContain("did not start within 200 ms");
  });

  it("limits-2 keep-alives are no sign of life; what was printed before is kept", async () => {
    const desk = await openDesk({ agents: [cli("quiet", "codex")], limits: { idleMs: 700 } });
    const id = await desk.launch("quiet", "text half an answer\nstatus-loop");
    const task = await desk.until(id, "timeout");
    expect(task.end?.reason).toBe("idle_timeout");
    const { result, partial } = await desk.data<{ result: { text: string }; partial: boolean }>("dispatch_output", {
      task_id: id,
    });
    expect({ text: result.text.trim(), partial }).toEqual({ text: "half an answer", partial: true });
  });

  it("limits-3 a child that talks without end reaches the wall, and its process is gone", async () => {
    const desk = await openDesk({ agents: [cli("chatty")] });
    const id = await desk.launch("chatty", "start\nchat", { timeout_ms: 800 });
    await desk.until(id, "running");
    const handle = (await desk.tasks.api.backend(desk.workspace.directory).store.terms(id))?.handle;
    const task = await desk.until(id, "timeout");
    expect(task.end?.reason).toBe("wall_timeout");
    expect(task.result?.partial).toBe(true);
    expect(isAlive((handle as { pid: number }).pid)).toBe(false);
  });

  it("limits-4 a task that waits too long in the queue ends once, is told once, and never starts", async () => {
    let started = 0;
    const desk = await openDesk({
      agents: [...basics, agent("late", () => `${++started}`, { lane: "hang" })],
      lanes: { default: { limit: 1, reservedSync: 0 } },
      queue: { timeoutMs: 300 },
    });
    const first = await desk.launch("hang");
    await desk.until(first, "running");
    const id = await desk.launch("late");
    const task = await desk.until(id, "error");
    expect(task.end?.reason).toBe("queue_timeout");
    const { notices } = await desk.data<{ notices: { taskId: string }[] }>("dispatch_inbox", {});
    expect(notices.filter(({ taskId }) => taskId === id)).toHaveLength(1);
    await desk.call("dispatch_cancel", { task_id: first });
    await desk.until(first, "cancelled");
    const next = await desk.launch("late");
    await desk.until(next, "completed");
    expect(started).toBe(1);
  });

  it("a clock that jumps ahead of a lease loses the claim: that run is stopped, and the work is done by the next", async () => {
    const clock = fakeClock();
    const stopped: number[] = [];
    const patient = agent("patient", async ({ attempt }, sink, signal) => {
      sink.activity({ kind: "text", text: "working" });
      if (attempt === 2) return "by the second";
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      stopped.push(attempt);
      return "by the first";
    });
    const limits = { leaseMs: 3_600_000, idleMs: 1e9, wallMs: 1e9 };
    const desk = await openDesk({ agents: [patient], clock, limits, maxAttempts: 2 });
    const id = await desk.launch("patient");
    await desk.until(id, "running");
    clock.advance(limits.leaseMs / 2);
    const { queue } = desk.tasks.api.backend(desk.workspace.directory);
    expect((await queue.sweep()).moved).toEqual([]);
    expect(await desk.task(id)).toMatchObject({ status: "running", attempt: 1 });
    clock.advance(limits.leaseMs * 4);
    expect(await desk.until(id, "completed", "error", "timeout")).toMatchObject({
      status: "completed",
      attempt: 2,
      result: { head: "by the second" },
    });
    expect(stopped).toEqual([1]);
    const { store } = desk.tasks.api.backend(desk.workspace.directory);
    expect((await store.attempts(id)).map(({ end }) => end?.reason)).toEqual(["lease_lost", "done"]);
    const { items } = await store.events(id, { kinds: ["lease_lost", "completed"], limit: 9 });
    expect(items.map(({ kind }) => kind)).toEqual(["lease_lost", "completed"]);
    const { notices } = await desk.data<{ notices: { taskId: string }[] }>("dispatch_inbox", {});
    expect(notices.filter(({ taskId }) => taskId === id)).toHaveLength(1);
  });

  it("a clock that is set back a day takes no claim away, starts nothing twice and ends nothing", async () => {
    const clock = fakeClock();
    const go = deferred();
    const runs: string[] = [];
    const waits = agent("waits", async ({ taskId, attempt }, sink) => {
      runs.push(`${taskId} ${attempt}`);
      sink.activity({ kind: "text", text: "working" });
      await go.promise;
      return "done";
    });
    const lanes = { default: { limit: 1, reservedSync: 0 }, perOwner: null };
    const desk = await openDesk({ agents: [waits], clock, lanes, limits: { leaseMs: 900 } });
    const [first, second] = [await desk.launch("waits"), await desk.launch("waits")];
    await desk.until(first, "running");
    clock.advance(-86_400_000);
    // Longer than a lease on the clock that goes evenly: it is renewed all the while.
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([(await desk.task(first)).status, (await desk.task(second)).status]).toEqual(["running", "pending"]);
    go.resolve();
    for (const id of [first, second])
      expect(await desk.until(id, "completed", "error", "timeout")).toMatchObject({ status: "completed", attempt: 1 });
    expect(runs).toEqual([`${first} 1`, `${second} 1`]);
  });

  it("a child that it waits for is a sign of life", async () => {
    const released = deferred();
    const inner = agent("inner", async (_r, sink) => {
      for (let count = 0; count < 8; count++) {
        sink.activity({ kind: "text", text: "." });
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      return "inner done";
    });
    const outer = agent(
      "outer",
      async ({ context }, sink) => {
        sink.activity({ kind: "text", text: "waiting" });
        const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch");
        const result = await tool?.call({ subagent: "inner", prompt: "x", run_in_background: false }, context);
        released.resolve();
        return result?.text ?? "";
      },
      { dispatches: ["inner"], limits: { idleMs: 300 } },
    );
    const desk = await openDesk({ agents: [inner, outer] });
    const id = await desk.launch("outer");
    await released.promise;
    const task = await desk.until(id, "completed", "timeout", "error");
    expect(task.status).toBe("completed");
  });
});

describe("truth: done means done", () => {
  it("truth-1 200 children that answer in the same tick are all completed", async () => {
    const desk = await openDesk({
      agents: [agent("quick", () => "ok")],
      lanes: { default: { limit: 20, reservedSync: 1 }, perOwner: null },
      queue: { maxPerLane: 1_000 },
    });
    const ids = await Promise.all(Array.from({ length: 200 }, () => desk.launch("quick")));
    for (const id of ids) {
      const task = await desk.until(id, "completed");
      expect(task.result?.head).toBe("ok");
    }
  });

  it("truth-2 a last turn that fails is a failure, with what was said before", async () => {
    const desk = await openDesk({ agents: [cli("turns", "codex")] });
    const result = await desk.call("dispatch", {
      subagent: "turns",
      prompt: "text part one\ntext part two\nerror the model went away\nexit 1",
      run_in_background: false,
    });
    expect(result).toMatchObject({ ok: false, error: { code: "upstream", details: { reason: "runner_failed" } } });
    expect(result.text).toContain("the model went away");
    const details = result.ok ? {} : result.error.details;
    expect(details?.taskId).toMatch(/^task_/);
    expect(details).toMatchObject({ partial: { text: "part one\npart two\n" } });
  });

  it.each([
    ["an empty answer", () => ""],
    ["no answer at all", () => undefined as unknown as string],
  ])("truth-3 %s is no success, and the counts stay balanced", async (_, fn) => {
    const desk = await openDesk({ agents: [agent("empty", fn)] });
    const result = await desk.call("dispatch", { subagent: "empty", prompt: "x", run_in_background: false });
    expect(result).toMatchObject({ ok: false, error: { code: "upstream", details: { reason: "no_result" } } });
    const text = await desk.dispatch.api.metricsText();
    for (const line of text.split("\n").filter((one) => one.startsWith("toolhaft_dispatch_active{")))
      expect(line).toMatch(/ 0$/);
  });

  it("an empty answer is a success where the agent says so", async () => {
    const desk = await openDesk({ agents: [agent("empty", () => "", { allowEmptyOutput: true })] });
    expect(await desk.call("dispatch", { subagent: "empty", prompt: "x", run_in_background: false })).toMatchObject({
      ok: true,
      data: { outcome: "finished" },
    });
  });

  it("truth-4 a wrong model name fails at once and frees the slot; a cancelled sibling stays so", async () => {
    const gate = deferred();
    let started = 0;
    const desk = await openDesk({
      agents: [
        agent("wrong", async () => {
          await gate.promise;
          throw new Error("unknown model");
        }),
        agent("sibling", () => `${++started}`, { lane: "wrong" }),
      ],
      lanes: { default: { limit: 1, reservedSync: 0 } },
    });
    const first = await desk.launch("wrong");
    await eventually(async () => (await desk.task(first)).state !== "queued");
    const second = await desk.launch("sibling");
    await desk.call("dispatch_cancel", { task_id: second });
    gate.resolve();
    expect((await desk.until(first, "error")).end?.message).toContain("unknown model");
    const third = await desk.launch("sibling");
    await desk.until(third, "completed");
    expect((await desk.task(second)).status).toBe("cancelled");
    expect(started).toBe(1);
  });

  it("a runner may throw anything, never settle, talk after its end, or answer with half a character", async () => {
    const held = deferred<Parameters<Parameters<typeof functionRunner>[0]>[1]>();
    const desk = await openDesk({
      agents: [
        agent("throws", () => {
          throw "a plain string";
        }),
        agent("after", (_r, sink) => {
          held.resolve(sink);
          return "over";
        }),
        agent("half", () => "half \ud83d of it"),
        agent("odd", () => ({ kind: "what" }) as unknown as string),
        agent("stuck", (_r, sink) => {
          sink.activity({ kind: "text", text: "so far" });
          return new Promise(() => undefined);
        }),
      ],
      limits: { cancelGraceMs: 100 },
    });
    expect((await desk.until(await desk.launch("throws"), "error")).end).toMatchObject({
      reason: "runner_failed",
      message: "a plain string",
    });
    const after = await desk.launch("after");
    const before = await desk.until(after, "completed");
    const sink = await held.promise;
    sink.activity({ kind: "text", text: "too late" });
    sink.usage({
      key: "x",
      total: {
        inputTokens: 1,
        outputTokens: 1,
        reasoningTokens: null,
        cacheReadTokens: null,
        cacheWriteTokens: null,
        costUsd: null,
        complete: true,
      },
    });
    await sink.session("another");
    expect(await desk.task(after)).toEqual(before);
    const half = await desk.until(await desk.launch("half"), "completed");
    expect(half.result?.head).toBe("half \ufffd of it");
    expect((await desk.until(await desk.launch("odd"), "error")).end?.reason).toBe("runner_failed");
    const stuck = await desk.until(await desk.launch("stuck", "x", { timeout_ms: 200 }), "timeout");
    expect(stuck.result).toMatchObject({ head: "so far", partial: true });
  });

  it("an answer of 50 MiB keeps its end", async () => {
    const desk = await openDesk({ agents: [agent("huge", () => `${"x".repeat(50 * 1024 * 1024)}the end`)] });
    const id = await desk.launch("huge");
    const task = await desk.until(id, "completed");
    expect(task.result?.droppedChars).toBeGreaterThan(0);
    const { result } = await desk.data<{ result: { text: string } }>("dispatch_output", {
      task_id: id,
      tail: true,
      limit: 7,
    });
    expect(result.text).toBe("the end");
  });
});

describe("slots: lanes and queues", () => {
  it("slots-1 no slot leaks, however children end", async () => {
    const desk = await openDesk({
      agents: [
        agent("third", async ({ prompt }, _sink, signal) => {
          await new Promise((resolve) => setTimeout(resolve, 5));
          if (prompt === "1") throw new Error("thrown");
          if (prompt === "2")
            await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("x"))));
          return "ok";
        }),
      ],
      lanes: { default: { limit: 4, reservedSync: 1 }, perOwner: null },
      limits: { cancelGraceMs: 500 },
    });
    for (let round = 0; round < Math.max(2, runs(20)); round++) {
      const ids = await Promise.all(Array.from({ length: 30 }, (_, at) => desk.launch("third", String(at % 3))));
      for (const [at, id] of ids.entries()) if (at % 3 === 2) void desk.call("dispatch_cancel", { task_id: id });
      for (const [at, id] of ids.entries())
        expect((await desk.until(id, "completed", "error", "cancelled")).status).toBe(
          ["completed", "error", "cancelled"][at % 3],
        );
      const [lane] = await desk.tasks.api.backend(desk.workspace.directory).store.lanes();
      expect(lane?.active ?? { sync: 0, background: 0 }).toEqual({ sync: 0, background: 0 });
    }
  });

  it("slots-2 and slots-5 the slot kept for waiting calls is not taken, and shown without", async () => {
    const desk = await openDesk({ lanes: { default: { limit: 5, reservedSync: 1 }, perOwner: null } });
    const { store } = desk.tasks.api.backend(desk.workspace.directory);
    const lane = async () => (await store.lanes()).find(({ lane: name }) => name === "hang");
    const three = await Promise.all(Array.from({ length: 3 }, () => desk.launch("hang")));
    for (const id of three) await desk.until(id, "running");
    expect(await lane()).toMatchObject({ available: { sync: 2, background: 1 } });
    const controller = new AbortController();
    const waiting = desk.call(
      "dispatch",
      { subagent: "hang", prompt: "sync", run_in_background: false },
      { signal: controller.signal },
    );
    const more = await Promise.all(Array.from({ length: 4 }, () => desk.launch("hang")));
    await eventually(async () => (await lane())?.active.sync === 1 && (await lane())?.active.background === 4);
    expect(await lane()).toMatchObject({ active: { sync: 1, background: 4 }, available: { sync: 0, background: 0 } });
    controller.abort();
    expect(await waiting).toMatchObject({ ok: false, error: { code: "cancelled" } });
    await eventually(async () => (await lane())?.active.sync === 0);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await lane()).toMatchObject({
      active: { sync: 0, background: 4 },
      available: { sync: 1, background: 0 },
      queued: 3,
    });
    for (const id of [...three, ...more]) await desk.call("dispatch_cancel", { task_id: id });
  });

  it.each([false, true])("slots-3 waiting for an approval with holdSlotWhileWaiting %s", async (hold) => {
    const desk = await openDesk({
      agents: [
        agent("asks", async (_r, sink) => {
          const { allowed } = await sink.ask({ kind: "tool", key: "k", title: "May I?" });
          return `allowed ${allowed}`;
        }),
        agent("other", () => "ran", { lane: "asks" }),
      ],
      lanes: { default: { limit: 1, reservedSync: 0 } },
      holdSlotWhileWaiting: hold,
    });
    const first = await desk.launch("asks");
    await desk.until(first, "awaiting_approval");
    const second = await desk.launch("other");
    if (hold) {
      await new Promise((resolve) => setTimeout(resolve, 200));
      expect((await desk.task(second)).status).toBe("pending");
    } else await desk.until(second, "completed");
    await desk.dispatch.api.approve(first, { human: "tester" });
    expect((await desk.until(first, "completed")).result?.head).toBe("allowed true");
    await desk.until(second, "completed");
  });

  it("slots-4 going on with a session waits like any other task", async () => {
    const desk = await openDesk({
      agents: [
        ...basics,
        {
          ...agent("resumable", ({ session: id, prompt }) => `${id} ${prompt}`, { lane: "hang" }),
          runner: functionRunner(
            async ({ session: id, prompt }, sink) => {
              await sink.session(id ?? "s-1");
              return `${id ?? "new"} ${prompt}`;
            },
            { caps: { resume: true } },
          ),
        },
      ],
      lanes: { default: { limit: 1, reservedSync: 0 } },
    });
    const source = await desk.launch("resumable");
    await desk.until(source, "completed");
    const busy = await desk.launch("hang");
    await desk.until(busy, "running");
    const next = await desk.data<{ taskId: string; queue: { ahead: number; waitsFor: string } }>("dispatch", {
      subagent: "resumable",
      prompt: "again",
      run_in_background: true,
      session_id: source,
    });
    expect(next.queue).toMatchObject({ ahead: 0, waitsFor: "slot" });
    await desk.call("dispatch_cancel", { task_id: busy });
    expect((await desk.until(next.taskId, "completed")).result?.head).toBe("s-1 again");
  });

  it("claim-3 two dispatchers on one store never hold more than the lane allows", async () => {
    let active = 0;
    let most = 0;
    const busy = agent("busy", async () => {
      active += 1;
      most = Math.max(most, active);
      await new Promise((resolve) => setTimeout(resolve, 20));
      active -= 1;
      return "ok";
    });
    const lanes = { default: { limit: 2, reservedSync: 0 }, perOwner: null };
    const desk = await openDesk({ agents: [busy], lanes });
    const other = await desk.another();
    await other.dispatch.api.start();
    const ids = await Promise.all(Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? desk : other).launch("busy")));
    for (const id of ids) await desk.until(id, "completed");
    expect(most).toBe(2);
  });

  it("nested waiting calls three deep in a lane of one finish; too deep and in circles are refused", async () => {
    const call = async (context: object, subagent: string, prompt: string) => {
      const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch");
      return tool?.call({ subagent, prompt, run_in_background: false }, context);
    };
    const desk = await openDesk({
      agents: [
        agent(
          "nest",
          async ({ prompt, context, depth }) => {
            const left = Number(prompt);
            if (left === 0) return `bottom at ${depth}`;
            const result = await call(context, "nest", String(left - 1));
            if (result?.ok !== true) return `refused: ${result?.text}`;
            return result.text;
          },
          { dispatches: "*", allowRecursion: true },
        ),
        agent("once", async ({ context }) => (await call(context, "once", "x"))?.text ?? "", { dispatches: "*" }),
      ],
      lanes: { default: { limit: 1, reservedSync: 0 } },
    });
    const three = await desk.call("dispatch", { subagent: "nest", prompt: "2", run_in_background: false });
    expect(three.text).toContain("bottom at 3");
    const deep = await desk.call("dispatch", { subagent: "nest", prompt: "5", run_in_background: false });
    expect(deep.text).toMatch(/refused: denied: this would be depth 6/);
    const circle = await desk.call("dispatch", { subagent: "once", prompt: "x", run_in_background: false });
    expect(circle.text).toMatch(/denied: once already works above you/);
  });

  it("a full queue is refused with figures, and leaves no task", async () => {
    const desk = await openDesk({
      lanes: { default: { limit: 1, reservedSync: 0 } },
      queue: { maxPerLane: 1 },
    });
    await desk.until(await desk.launch("hang"), "running");
    await desk.launch("hang");
    const refused = await desk.call("dispatch", { subagent: "hang", prompt: "x", run_in_background: true });
    expect(refused).toMatchObject({
      ok: false,
      error: {
        code: "unavailable",
        retryable: true,
        details: { queued: 1, limit: 1, lane: "hang", retryAfterMs: expect.any(Number) },
      },
    });
    const { tasks } = await desk.data<{ tasks: unknown[] }>("dispatch_status", {});
    expect(tasks).toHaveLength(2);
  });
});

describe("ended, retry: what has ended stays as it was", () => {
  const resumable = (seen: { prompt: string; session: string | null }[]) => ({
    name: "resumable",
    description: "Goes on.",
    lane: "hang",
    runner: functionRunner(
      async ({ session: id, prompt, context }, sink) => {
        seen.push({ prompt, session: id });
        await sink.session(id ?? "s-1");
        if (prompt.includes("checkpoint first")) {
          const tool = desk.dispatch.tools.find(({ name }) => name === "dispatch_checkpoint");
          await tool?.call(
            { task_id: context.task?.id, phase: "lexing", completed_items: ["a"], remaining_items: ["b"] },
            context,
          );
          throw new Error("stopped half-way");
        }
        return "done";
      },
      { caps: { resume: true } },
    ),
  });
  let desk: Awaited<ReturnType<typeof openDesk>>;
  const retry = async (id: string, modifyPrompt: string | null = null) => {
    const { queue } = desk.tasks.api.backend(desk.workspace.directory);
    return queue.apply(id, { kind: "retry", key: createId(), by: { agent: "main", sessionId: session }, modifyPrompt });
  };

  it("ended-1 a continuation that cannot be queued leaves its source as it is", async () => {
    const seen: { prompt: string; session: string | null }[] = [];
    desk = await openDesk({
      agents: [...basics, resumable(seen)],
      lanes: { default: { limit: 1, reservedSync: 0 } },
      queue: { maxPerLane: 1 },
    });
    const source = await desk.launch("resumable");
    const before = await desk.until(source, "completed");
    await desk.until(await desk.launch("hang"), "running");
    await desk.launch("hang");
    const refused = await desk.call("dispatch", {
      subagent: "resumable",
      prompt: "more",
      run_in_background: true,
      session_id: source,
    });
    expect(refused).toMatchObject({
      ok: false,
      error: { code: "unavailable", details: { retryAfterMs: expect.any(Number) } },
    });
    expect(await desk.task(source)).toEqual(before);
  });

  it("ended-2 and notice-5 a cancelled task that is retried really runs, and is told of again", async () => {
    let runsOf = 0;
    desk = await openDesk({
      agents: [
        agent("second", (_r, sink, signal) => {
          runsOf += 1;
          if (runsOf > 1) return "at last";
          sink.activity({ kind: "text", text: "first" });
          return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("x"))));
        }),
      ],
    });
    const id = await desk.launch("second");
    await desk.until(id, "running");
    await desk.call("dispatch_cancel", { task_id: id });
    await desk.until(id, "cancelled");
    await retry(id);
    expect(await desk.until(id, "completed")).toMatchObject({ attempt: 2 });
    const { notices } = await desk.data<{ notices: { id: string }[] }>("dispatch_inbox", {});
    expect(notices.map((notice) => notice.id)).toEqual([`${id}:1:cancelled`, `${id}:2:completed`]);
    const first = await desk.call("dispatch_output", { task_id: id, attempt: 1 });
    expect(first.text).toContain("Status: cancelled");
  });

  it("retry-1 a failed waiting call gives the id, and it can be retried", async () => {
    desk = await openDesk();
    const failed = await desk.call("dispatch", { subagent: "fail", prompt: "x", run_in_background: false });
    const id = String(failed.ok ? "" : failed.error.details?.taskId);
    expect((await desk.task(id)).status).toBe("error");
    expect((await retry(id)).ok).toBe(true);
    const controller = new AbortController();
    const waiting = desk.call(
      "dispatch",
      { subagent: "hang", prompt: "x", run_in_background: false },
      { signal: controller.signal },
    );
    await eventually(async () => {
      const { tasks } = await desk.data<{ tasks: { agent: string; status: string }[] }>("dispatch_status", {});
      return tasks.some(({ agent: name, status }) => name === "hang" && status === "running");
    });
    controller.abort();
    const stopped = await waiting;
    expect(stopped).toMatchObject({
      ok: false,
      error: { code: "cancelled", details: { taskId: expect.stringMatching(/^task_/) } },
    });
    const other = String(stopped.ok ? "" : stopped.error.details?.taskId);
    await desk.until(other, "cancelled");
  });

  it("retry-2 a session that goes on gets what is new, and not the prompt again", async () => {
    const seen: { prompt: string; session: string | null }[] = [];
    desk = await openDesk({ agents: [resumable(seen)] });
    const prompt = `checkpoint first ${"p".repeat(5_000)}`;
    const id = await desk.launch("resumable", prompt);
    await desk.until(id, "error");
    await retry(id, "only the tests");
    await desk.until(id, "completed");
    expect(seen[1]?.session).toBe("s-1");
    expect(seen[1]?.prompt).toMatch(/^only the tests\n\nLast checkpoint: lexing/);
    expect(seen[1]?.prompt).toContain("stopped half-way");
    expect(seen[1]?.prompt.length).toBeLessThan(1_000);
  });

  it("retry-2 a runner that cannot go on gets both, the new words first", async () => {
    const seen: string[] = [];
    desk = await openDesk({
      agents: [
        agent("fresh", ({ prompt }) => {
          seen.push(prompt);
          if (seen.length === 1) throw new Error("no");
          return "yes";
        }),
      ],
    });
    const id = await desk.launch("fresh", "the whole prompt");
    await desk.until(id, "error");
    await retry(id, "only the tests");
    await desk.until(id, "completed");
    expect(seen[1]).toMatch(/^only the tests\n[\s\S]*\nthe whole prompt$/);
  });
});
