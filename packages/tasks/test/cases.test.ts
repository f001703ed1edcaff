import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newKey, poster, runningTask, runTask } from "../src/contract/setting.ts";
import { createTasks, type NewTask } from "../src/index.ts";
import { callerOf, dataOf, errorOf, openSqlite, setting, taskOf, temporaryFolder } from "./setting.ts";

const leaseSecs = 600;
const over = leaseSecs * 1_000 + 1;

describe("the board", () => {
  it("claim-1: eight workers claim one task at the same moment, and one of them gets it", async () => {
    const { as, post, family, directory } = setting();
    for (let round = 0; round < 20; round++) {
      const task_id = await post();
      const results = await Promise.all(
        Array.from({ length: 8 }, (_, index) => as(`w${index}`)("task_claim", { task_id })),
      );
      expect(results.filter(({ ok }) => ok)).toHaveLength(1);
      for (const result of results) if (!result.ok) expect(result.error.code).toBe("conflict");
      const task = await family.api.backend(directory).store.get(task_id);
      expect(task?.fence).toBe(1);
    }
  });

  it("board-1: nobody finishes another's task, or one that is finished", async () => {
    const { as, post } = setting();
    const task_id = await post();
    dataOf(await as("A")("task_claim", {}));
    const refused = errorOf(await as("B")("task_complete", { task_id, result: "B's" }));
    expect(refused).toMatchObject({ code: "conflict", retryable: false });
    expect(refused.message).toMatch(/held by A .* until 2026-01-01T00:10:00/);
    expect(taskOf(await as("A")("task_complete", { task_id, result: "A's" })).status).toBe("completed");
    expect(errorOf(await as("A")("task_complete", { task_id, result: "again" })).code).toBe("conflict");
    const status = dataOf(await as("B")("task_status", { task_id }));
    expect(status).toMatchObject({ result: "A's", lateResults: 2, assignedTo: "A" });
  });

  it("board-2: a claim that has run out blocks nobody, though no sweep ran", async () => {
    const { as, post, clock } = setting();
    const task_id = await post();
    dataOf(await as("A")("task_claim", {}));
    clock.advance(over);
    const { tasks } = dataOf(await as("B")("task_list", {})) as { tasks: { status: string }[] };
    expect(tasks[0]?.status).toBe("pending");
    expect(taskOf(await as("B")("task_claim", {}))).toMatchObject({ id: task_id, attempt: 2, fence: 2 });
  });

  it("board-3: a worker that stalls gives the task back each time, until its attempts are over", async () => {
    const { as, post, clock, family, directory } = setting();
    const task_id = await post({ assignee: "A", priority: 3 });
    for (let attempt = 1; attempt <= 3; attempt++) {
      const claimed = taskOf(await as("A")("task_claim", {}));
      expect(claimed).toMatchObject({ attempt, assignee: "A", priority: 3 });
      clock.advance(over);
    }
    expect(taskOf(await as("A")("task_status", { task_id }))).toMatchObject({
      status: "error",
      end: { reason: "lease_lost" },
    });
    const notices = await family.api.backend(directory).store.notices({ to: ["session-main"], limit: 9, leaseMs: 1 });
    expect(notices.map(({ id }) => id)).toEqual([`${task_id}:3:failed`]);
  });

  it("fence-1: what a cancelled worker brings is refused and kept, before the retry and after", async () => {
    const { as, call, post, clock, family, directory } = setting();
    const task_id = await post();
    const A = as("A");
    dataOf(await A("task_claim", {}));
    expect((await call("task_update", { task_id, action: "cancel" })).text).toMatch(/Asked A to stop/);
    clock.advance(10_001);
    expect(errorOf(await A("task_complete", { task_id, result: "late" })).code).toBe("conflict");
    expect(taskOf(await call("task_status", { task_id })).status).toBe("cancelled");
    expect(dataOf(await call("task_retry", { task_id }))).toMatchObject({ attempt: 2, status: "pending" });
    dataOf(await as("B")("task_claim", {}));
    expect(taskOf(await as("B")("task_complete", { task_id, result: "new" })).status).toBe("completed");
    expect(errorOf(await A("task_complete", { task_id, result: "late again" })).code).toBe("conflict");
    expect(dataOf(await call("task_status", { task_id }))).toMatchObject({ result: "new", lateResults: 2 });
    const { store } = family.api.backend(directory);
    const late = await store.events(task_id, { kinds: ["late_result"], limit: 9 });
    expect(late.items.map(({ data }) => data.text)).toEqual(["late", "late again"]);
    expect((await store.attempts(task_id)).map(({ state }) => state)).toEqual(["cancelled", "completed"]);
  });

  it("a token lets another process of the holder finish, and only while the claim lives", async () => {
    const { as, post, clock } = setting();
    const task_id = await post();
    const { claimToken } = dataOf(await as("A")("task_claim", { lease_secs: 60 }));
    expect(errorOf(await as("B")("task_complete", { task_id, result: "x", claim_token: "wrong" })).code).toBe(
      "conflict",
    );
    clock.advance(60_001);
    expect(errorOf(await as("B")("task_complete", { task_id, result: "x", claim_token: claimToken })).code).toBe(
      "conflict",
    );
    const second = dataOf(await as("A")("task_claim", {}));
    expect(
      taskOf(await as("B")("task_complete", { task_id, result: "y", claim_token: second.claimToken })).status,
    ).toBe("completed");
  });

  it("renew, release, fail and cancel are the holder's and the poster's", async () => {
    const { as, call, post, clock } = setting();
    const task_id = await post({ lease_secs: 30 });
    expect(errorOf(await as("A")("task_update", { task_id, action: "renew" })).message).toMatch(/nobody holds/);
    dataOf(await as("A")("task_claim", {}));
    clock.advance(20_000);
    expect(dataOf(await as("A")("task_update", { task_id, action: "renew" })).leaseUntil).toBe(
      "2026-01-01T00:00:50.000Z",
    );
    expect(errorOf(await as("B")("task_update", { task_id, action: "release" })).code).toBe("conflict");
    expect(errorOf(await as("B")("task_update", { task_id, action: "cancel" })).code).toBe("denied");
    expect(taskOf(await as("A")("task_update", { task_id, action: "release" })).status).toBe("pending");
    expect(taskOf(await as("B")("task_claim", {})).attempt).toBe(1);
    dataOf(await call("task_update", { task_id, action: "cancel", reason: "not needed" }));
    const told = errorOf(await as("B")("task_update", { task_id, action: "renew" }));
    expect(told.message).toMatch(/main asked to cancel this task: not needed/);
    expect(taskOf(await call("task_status", { task_id })).status).toBe("cancelled");
    expect(errorOf(await call("task_update", { task_id, action: "cancel" })).code).toBe("conflict");
    const other = await post();
    dataOf(await as("A")("task_claim", {}));
    expect(taskOf(await as("A")("task_update", { task_id: other, action: "fail", reason: "no access" }))).toMatchObject(
      {
        status: "error",
        end: { reason: "runner_failed", message: "no access" },
      },
    );
  });

  it("a claim waits for a task that is posted meanwhile, and ends when its call is stopped", async () => {
    const { as, post } = setting();
    const waiting = as("A")("task_claim", { wait_ms: 60_000 });
    const task_id = await post();
    expect(taskOf(await waiting).id).toBe(task_id);
    const controller = new AbortController();
    const stopped = as("A")("task_claim", { wait_ms: 600_000 }, { signal: controller.signal });
    controller.abort();
    expect(errorOf(await stopped).code).toBe("cancelled");
    expect((await as("A")("task_claim", { wait_ms: 1 })).text).toBe("Nothing to claim within 1 ms.");
  });

  it("a claim says what came before: lost attempt, checkpoint, results it builds on", async () => {
    const { as, call, post, clock, family, directory } = setting();
    const first = await post({ title: "first" });
    dataOf(await as("A")("task_claim", {}));
    dataOf(await as("A")("task_complete", { task_id: first, result: "tokens are listed" }));
    const task_id = await post({ title: "second", body: "The body.", depends_on: [first] });
    dataOf(await as("A")("task_claim", {}));
    const backend = family.api.backend(directory);
    await backend.store.append(
      task_id,
      { taskId: task_id, fence: 1 },
      {
        key: newKey(),
        kind: "checkpoint",
        data: { phase: "lexing", completed_items: ["names"], remaining_items: ["numbers", "strings"] },
      },
    );
    clock.advance(over);
    const result = await as("B")("task_claim", {});
    expect(result.text).toBe(
      [
        `Claimed ${task_id} "second" (priority 0, attempt 2 of 3)`,
        `Lease until 00:20:00 UTC: renew with task_update {"task_id":"${task_id}","action":"renew"}`,
        "Attempt 1 did not finish. Last checkpoint: lexing; done: names; remaining: numbers, strings.",
        `After ${first}: tokens are listed`,
        "---",
        "The body.",
      ].join("\n"),
    );
    expect((await call("task_status", { task_id })).text).toContain("running, attempt 2 of 3");
  });
});

describe("results and history", () => {
  it("output-1: a long result is read by the printed calls, and joins to the exact text", async () => {
    const { as, call, post } = setting();
    const task_id = await post();
    const text = "语👍🏽e\u0301x ".repeat(10_000);
    dataOf(await as("A")("task_claim", {}));
    dataOf(await as("A")("task_complete", { task_id, result: text }));
    let joined = "";
    let next: unknown = { task_id };
    for (let page = 0; next !== undefined && page < 10; page++) {
      const result = await call("task_status", next as Record<string, unknown>);
      const data = dataOf(result) as { result: string; task: { resultChars: number } };
      joined += data.result;
      expect(data.task.resultChars).toBe([...text].length);
      const printed = /next: task_status (\{.*\})\]/.exec(result.text)?.[1];
      next = printed === undefined ? undefined : JSON.parse(printed);
    }
    expect(joined).toBe(text);
    const past = dataOf(await call("task_status", { task_id, offset: 1_000_000 }));
    expect(past).toMatchObject({ result: "", nextResultOffset: null, task: { resultChars: [...text].length } });
  });

  it("output-2: the data of a process that is gone is all there in another folder", async () => {
    const { as, post, directory } = setting();
    const task_id = await post();
    dataOf(await as("A")("task_claim", {}));
    dataOf(await as("A")("task_complete", { task_id, result: "kept" }));
    const elsewhere = temporaryFolder();
    mkdirSync(join(elsewhere, ".toolhaft"));
    for (const part of ["", "-wal"])
      cpSync(join(directory, ".toolhaft", `tasks.db${part}`), join(elsewhere, ".toolhaft", `tasks.db${part}`));
    const copy = createTasks();
    const read = dataOf(await callerOf(copy, { directory: elsewhere })("task_status", { task_id }));
    expect(read).toMatchObject({
      result: "kept",
      task: { status: "completed", durationMs: 0 },
      completedAt: "2026-01-01T00:00:00.000Z",
    });
    await copy.close();
  });

  it("output-3: titles with a bar, a break and a backtick are one cell each", async () => {
    const { call, post } = setting();
    const titles = ["a | b", "two\nlines", "a `tick`", "back\\slash |"];
    for (const title of titles) await post({ title });
    for (const text of [(await call("task_search", { query: "*" })).text, (await call("task_list", {})).text]) {
      const rows = text.split("\n").filter((line) => line.startsWith("| task_"));
      expect(rows).toHaveLength(4);
      const cells = rows.map((row) =>
        row
          .slice(1, -1)
          .split(/(?<!\\)(?:\\\\)*\|/)
          .map((cell) => cell.trim().replace(/\\(.)/g, "$1")),
      );
      for (const [index, title] of titles.reverse().entries())
        expect(cells[index]).toContain(title.replace("\n", " ⏎ "));
      titles.reverse();
    }
  });

  it("history-1: depth 1 shows children and continuations, and says what is below", async () => {
    const { call, family, directory } = setting();
    const { queue } = family.api.backend(directory);
    const init = { ...runTask(), ownerSession: "session-main", rootSession: "session-main" };
    const post = async (more: Partial<NewTask> = {}) => (await queue.post([{ ...init, ...more }]))[0]?.task.id ?? "";
    const first = await post();
    const second = await post();
    const goesOn = await post({ continues: first });
    await post({ parentTask: first });
    const result = await call("task_graph", { depth: 1 });
    const data = dataOf(result) as { nodes: { id: string }[]; hiddenBelowDepth: number };
    expect(data.nodes.map(({ id }) => id)).toEqual([first, goesOn, second]);
    expect(result.text).toContain("1 below not shown");
    expect(result.text).toContain(`continues ${first}`);
    expect(result.text.split("\n")[0]).toBe("session session-main · 4 tasks");
    const all = await call("task_graph", {});
    expect(all.text).toContain("│  └─ task_");
    const chart = await call("task_graph", { format: "mermaid" });
    expect(chart.text).toMatch(/^flowchart TD\n {2}s0\(\["session session-main"\]\)/);
    expect(chart.text).toContain("t0 -. continues .-> t2");
  });

  it("history-2: days and hours are those of the zone that was asked for", async () => {
    const { call, post, clock } = setting();
    clock.set(Date.UTC(2026, 2, 1, 23, 30));
    await post();
    clock.set(Date.UTC(2026, 2, 2, 0, 30));
    await post();
    const days = async (tz?: string) =>
      (
        dataOf(await call("task_chronology", { group_by: "day", ...(tz && { tz }) })) as {
          buckets: { key: string; count: number }[];
        }
      ).buckets.map(({ key, count }) => [key, count]);
    const zone = process.env.TZ;
    for (const TZ of ["UTC", "Asia/Shanghai"]) {
      process.env.TZ = TZ;
      expect(await days()).toEqual([
        ["2026-03-01", 1],
        ["2026-03-02", 1],
      ]);
      expect(await days("Asia/Shanghai")).toEqual([["2026-03-02", 2]]);
    }
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
    expect(errorOf(await call("task_chronology", { from_date: "32.13." })).code).toBe("invalid_input");
    // Berlin put its clocks back at 01:00 UTC on 2026-10-25: the hour from 2 to 3 comes twice.
    for (const hour of [0, 1]) {
      clock.set(Date.UTC(2026, 9, 25, hour, 15));
      await post();
    }
    const { buckets } = dataOf(await call("task_chronology", { tz: "Europe/Berlin", from_date: "2026-10-25" })) as {
      buckets: { key: string }[];
    };
    expect(buckets.map(({ key }) => key)).toEqual(["2026-10-25T02+01:00", "2026-10-25T02+02:00"]);
  });

  it("history-3: an export stays in the workspace", async () => {
    const { call, post, directory } = setting();
    const task_id = await post();
    symlinkSync(temporaryFolder(), join(directory, "link"));
    for (const export_path of ["../out.md", "link/out.md", "/tmp/toolhaft-out.md"]) {
      expect(errorOf(await call("task_export", { task_id, export_path })).code, export_path).toBe("denied");
    }
    const written = await call("task_export", { task_id, export_path: "..notes.md" });
    expect(written.text).toMatch(/^Exported /);
    expect(written.ok && written.fileChanges?.length).toBe(1);
    expect(await readFile(join(directory, "..notes.md"), "utf8")).toContain("Status: pending (not finished)");
    await writeFile(join(directory, "there.md"), "mine");
    expect(errorOf(await call("task_export", { task_id, export_path: "there.md" })).code).toBe("conflict");
    expect(await readFile(join(directory, "there.md"), "utf8")).toBe("mine");
    dataOf(await call("task_export", { task_id, export_path: "there.md", overwrite: true, format: "json" }));
    expect(JSON.parse(await readFile(join(directory, "there.md"), "utf8"))).toMatchObject({
      id: task_id,
      prompt: "do it",
      finished: false,
    });
    expect(errorOf(await call("task_export", { task_id, export_path: "a", output_path: "b" })).code).toBe(
      "invalid_input",
    );
  });

  it("an export holds prompt, result, messages and events, and says of an old attempt how that ended", async () => {
    const { call, family, directory } = setting();
    const backend = family.api.backend(directory);
    const claim = await runningTask(
      backend,
      { ...runTask({ title: "Review", body: "look\n```\nfences" }), maxAttempts: 2 },
      { leaseMs: 60_000 },
    );
    await backend.store.append(claim.taskId, claim, {
      key: newKey(),
      kind: "transcript",
      data: { text: "user: hello" },
    });
    await backend.queue.apply(claim.taskId, {
      kind: "fail",
      key: newKey(),
      ref: claim,
      reason: "runner_failed",
      message: "crashed",
      retryable: false,
      result: { text: "half of it" },
    });
    await backend.queue.apply(claim.taskId, { kind: "retry", key: newKey(), by: poster });
    const task_id = claim.taskId;
    const { text } = await call("task_export", { task_id, attempt: 1, include_messages: true, include_events: true });
    for (const part of [
      "# Review",
      "Status: error",
      "Reason: runner_failed: crashed",
      "## Result (partial)",
      "half of it",
      "## Messages",
      "user: hello",
      "## Events",
      "````text\nlook\n```\nfences\n````",
    ])
      expect(text).toContain(part);
    expect((await call("task_export", { task_id })).text).toContain("Status: pending (not finished)");
    expect(errorOf(await call("task_export", { task_id, include_messages: true })).code).toBe("unsupported");
    expect(errorOf(await call("task_export", { task_id, attempt: 9 })).code).toBe("invalid_input");
  });

  it("progress-4: a reader that comes back misses nothing and reads nothing twice, after a restart too", async () => {
    const store = await openSqlite();
    const claim = await runningTask(store.backend, runTask(), { leaseMs: 60_000 });
    for (let index = 0; index < 24; index++)
      await store.backend.store.append(claim.taskId, claim, { key: newKey(), kind: "progress", data: { index } });
    const other = await store.another();
    const seen: number[] = [];
    for (let afterSeq = 7; ; ) {
      const page = await other.store.events(claim.taskId, { afterSeq, limit: 6 });
      seen.push(...page.items.map(({ seq }) => seq));
      if (page.nextCursor === null) break;
      afterSeq = Number(page.nextCursor);
    }
    expect(seen).toEqual(Array.from({ length: 20 }, (_, index) => index + 8));
    await store.close();
  });

  it("instance-1: two families in one process see nothing of each other", async () => {
    const [one, two] = [setting(), setting()];
    for (let index = 0; index < 10; index++) await one.post();
    expect((await two.call("task_list", {})).text).toBe("No tasks.");
    expect(dataOf(await one.call("task_list", { limit: 1 })).total).toBe(10);
    expect(errorOf(await two.call("task_status", { task_id: await one.post() })).code).toBe("not_found");
  });

  it("instance-2: a new conversation of the same session finds its tasks again", async () => {
    const { post, directory, family } = setting();
    const ids = [await post(), await post(), await post()];
    await family.close();
    const later = createTasks();
    const { tasks } = dataOf(
      await callerOf(later, { directory })("task_search", { query: "*", parent_session: "session-main" }),
    ) as { tasks: { id: string }[] };
    expect(tasks.map(({ id }) => id).sort()).toEqual(ids.sort());
    await later.close();
  });

  it("visibility root: another root's tasks are not there, whatever is asked", async () => {
    const { as, family, directory } = setting({ visibility: "root" });
    const A = as("A");
    const B = as("B");
    const task_id = taskOf(await A("task_post", { title: "mine", body: "b" })).id;
    for (const [tool, input] of [
      ["task_status", { task_id }],
      ["task_export", { task_id }],
      ["task_retry", { task_id }],
      ["task_claim", { task_id }],
      ["task_complete", { task_id, result: "x" }],
      ["task_update", { task_id, action: "cancel" }],
      ["task_graph", { task_id }],
      ["task_graph", { root_session: "all" }],
      ["task_budget", { session_id: "session-A" }],
    ] as const)
      expect(errorOf(await B(tool, input)).code, tool).toBe("not_found");
    expect(errorOf(await B("task_post", { title: "t", body: "b", depends_on: [task_id] })).code).toBe("not_found");
    for (const tool of ["task_list", "task_search"] as const)
      expect(dataOf(await B(tool, tool === "task_search" ? { query: "*", root_session: "session-A" } : {})).total).toBe(
        0,
      );
    expect(dataOf(await B("task_chronology", {})).buckets).toEqual([]);
    expect(taskOf(await A("task_status", { task_id })).id).toBe(task_id);
    expect((await family.api.backend(directory).store.get(task_id))?.status).toBe("pending");
  });

  it("task_retry says who can run it, and refuses agents that are gone", async () => {
    const { call, as, family, directory } = setting();
    const backend = family.api.backend(directory);
    const claim = await runningTask(
      backend,
      { ...runTask(), ownerSession: "session-main", rootSession: "session-main" },
      { leaseMs: 60_000 },
    );
    await backend.store.append(claim.taskId, claim, { key: newKey(), kind: "activity", data: {}, sessionId: "ses_7" });
    await backend.queue.apply(claim.taskId, { kind: "complete", key: newKey(), ref: claim, result: { text: "x" } });
    const task_id = claim.taskId;
    expect(errorOf(await as("B")("task_retry", { task_id })).code).toBe("denied");
    {
      using _gone = family.api.knowAgents(async (agent) => agent === "other");
      expect(errorOf(await call("task_retry", { task_id })).code).toBe("unsupported");
    }
    expect((await call("task_retry", { task_id })).text).toBe(
      `Attempt 2 of ${task_id} queued (resumes session ses_7).\nNo dispatcher runs on this store; the task starts when one does.`,
    );
    expect(errorOf(await call("task_retry", { task_id })).message).toMatch(/pending/);
    expect(errorOf(await call("task_claim", { task_id })).code, "a dispatcher's task is not the board's").toBe(
      "denied",
    );
  });

  it("budgets are shown with what is used, held and left; the unknown as unknown", async () => {
    const { call, family, directory } = setting();
    const backend = family.api.backend(directory);
    const own = { ownerSession: "session-main", rootSession: "session-main" };
    await backend.store.setBudget({ root: "session-main" }, { totalTokens: 1_000, sessions: 5 });
    const claim = await runningTask(backend, runTask(own), { leaseMs: 60_000 });
    await backend.store.append(claim.taskId, claim, {
      key: "u",
      kind: "usage",
      data: {
        total: {
          inputTokens: 200,
          outputTokens: 50,
          reasoningTokens: null,
          cacheReadTokens: null,
          cacheWriteTokens: null,
          costUsd: null,
          complete: false,
        },
      },
    });
    const result = await call("task_budget", { detail: true });
    const { rows } = dataOf(result) as { rows: Record<string, unknown>[] };
    expect(rows.find(({ measure }) => measure === "totalTokens")).toEqual({
      measure: "totalTokens",
      used: 250,
      reserved: 750,
      limit: 1_000,
      remaining: 0,
      percent: 25,
      exceeded: false,
    });
    expect(rows.find(({ measure }) => measure === "costUsd")).toMatchObject({ used: null, limit: null, percent: null });
    expect(result.text).toContain("| costUsd | unknown | 0.0000 | unlimited | – | – |");
    const silent = await runningTask(backend, runTask({ ...own, parentTask: null }), { leaseMs: 60_000 }).catch(
      () => undefined,
    );
    expect(silent, "nothing is left for a second one").toBeUndefined();
  });
});
