import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@toolhaft/sqlite";
import { describe, expect, it } from "vitest";
import { createTasks, sqliteTasks } from "../src/index.ts";
import { callerOf, dataOf, errorOf, setting, temporaryFolder } from "./setting.ts";

const other = "task_01KBQ7W3M2V8Y0T4N6R1C5D9EA";
const ok = { title: "t", body: "b" };

describe("bad input", () => {
  it.each(["../x", "task_1", "x".repeat(1_048_576), "task_01KBQ7W3M2V8Y0T4N6R1C5D9Ea", ""])(
    "an id of another form is refused before any file is made (%#)",
    async (task_id) => {
      const { call, directory } = setting();
      for (const [tool, more] of [
        ["task_status", {}],
        ["task_export", {}],
        ["task_retry", {}],
        ["task_claim", {}],
        ["task_complete", { result: "r" }],
        ["task_update", { action: "renew" }],
        ["task_graph", {}],
      ] as const) {
        const error = errorOf(await call(tool, { task_id, ...more }));
        expect(error.code, tool).toBe("invalid_input");
        expect(error.message).not.toContain("xxx");
      }
      expect(() => readFileSync(join(directory, ".toolhaft", "tasks.db"))).toThrow();
    },
  );
  it("another store's id is not found", async () => {
    const { call } = setting();
    expect(errorOf(await call("task_status", { task_id: other }))).toMatchObject({
      code: "not_found",
      retryable: false,
    });
  });
  it.each([
    ["title", { title: " \n", body: "b" }],
    ["title", { title: "x".repeat(201), body: "b" }],
    ["title", { title: "\0", body: "b" }],
    ["title", { title: "half \ud83d", body: "b" }],
    ["body", { title: "t", body: " " }],
    ["body", { title: "t", body: "a\0b" }],
    ["priority", { ...ok, priority: 101 }],
    ["priority", { ...ok, priority: 1.5 }],
    ["max_attempts", { ...ok, max_attempts: 0 }],
    ["lease_secs", { ...ok, lease_secs: 9 }],
    ["not_before", { ...ok, not_before: "tomorrow" }],
    ["depends_on", { ...ok, depends_on: ["../x"] }],
    ["depends_on", { ...ok, depends_on: [other] }],
    ["depends_on", { ...ok, depends_on: Array.from({ length: 51 }, () => other) }],
  ])("task_post: %s %#", async (field, input) => {
    const { call } = setting();
    const error = errorOf(await call("task_post", input));
    expect(error.code).toBe("invalid_input");
    expect(`${error.message} ${JSON.stringify(error.details ?? {})}`).toContain(field);
    expect(dataOf(await call("task_list", {})).total).toBe(0);
  });
  it("what is too long is too_large, with both figures", async () => {
    const { call, post, as } = setting();
    const body = errorOf(await call("task_post", { title: "t", body: "é".repeat(100_001) }));
    expect(body).toMatchObject({ code: "too_large", details: { size: 100_001, limit: 100_000 } });
    expect(body.message).toMatch(/100001.*100000/);
    const metadata = errorOf(await call("task_post", { ...ok, metadata: { a: "x".repeat(16_384) } }));
    expect(metadata.code).toBe("too_large");
    expect(dataOf(await call("task_post", { title: "👍".repeat(200), body: "b".repeat(100_000) })).created).toBe(true);
    const task_id = await post();
    dataOf(await as("A")("task_claim", { task_id }));
    const result = errorOf(await as("A")("task_complete", { task_id, result: "x".repeat(1_048_577) }));
    expect(result).toMatchObject({ code: "too_large", details: { size: 1_048_577, limit: 1_048_576 } });
    expect(dataOf(await as("A")("task_complete", { task_id, result: "x".repeat(1_048_576) })).leaseUntil).toBeNull();
  });
  it.each([
    ["task_list", { limit: 0 }],
    ["task_list", { limit: 101 }],
    ["task_list", { limit: 1.5 }],
    ["task_list", { limit: "many" }],
    ["task_list", { status: "done" }],
    ["task_list", { cursor: "made-up" }],
    ["task_graph", { depth: 0 }],
    ["task_graph", { depth: 21 }],
    ["task_graph", { limit: 501 }],
    ["task_claim", { priority_filter: "high" }],
    ["task_claim", { wait_ms: -1 }],
    ["task_claim", { wait_ms: 600_001 }],
    ["task_search", { query: "" }],
    ["task_search", { query: "x".repeat(501) }],
    ["task_search", { query: "*", from_date: "yesterday" }],
    ["task_search", { query: "*", from_date: "2026-02-30" }],
    ["task_search", { query: "*", to_date: "2026-02-03T25:00:00Z" }],
    ["task_search", { query: "*", from_date: "2026-02-02", to_date: "2026-02-01" }],
    ["task_chronology", { tz: "Mars" }],
    ["task_chronology", { tz: "" }],
    ["task_chronology", { limit: 1_001 }],
    ["task_chronology", { group_by: "week" }],
    ["task_export", { task_id: other, format: "pdf" }],
    ["task_retry", { task_id: other, modify_prompt: "x".repeat(20_001) }],
    ["task_update", { task_id: other, action: "stop" }],
    ["task_update", { task_id: other, action: "fail", reason: "x".repeat(2_001) }],
    ["task_list", { lim: 3 }],
  ])("%s %j", async (tool, input) => {
    const { call } = setting();
    expect(errorOf(await call(tool, input)).code).toBe("invalid_input");
  });
  it("a dependency that has failed: posted, and ended at once", async () => {
    const { call, as, post } = setting();
    const first = await post();
    dataOf(await as("A")("task_claim", {}));
    dataOf(await as("A")("task_update", { task_id: first, action: "fail" }));
    const result = await call("task_post", { ...ok, depends_on: [first] });
    expect(dataOf(result)).toMatchObject({
      created: true,
      task: { status: "error", end: { reason: "dependency_failed" } },
    });
    expect(result.text).toContain("it ended at once");
  });
  it("a full board refuses with both figures, and may be tried again", async () => {
    const { call, post } = setting({ board: { maxPending: 1 } });
    await post();
    const error = errorOf(await call("task_post", ok));
    expect(error).toMatchObject({ code: "unavailable", retryable: true, details: { queued: 1, limit: 1 } });
  });
  it.each([
    [{ board: { leaseMs: 0 } }, /board\.leaseMs/],
    [{ maxWaitMs: -1 }, /maxWaitMs/],
    [{ retention: { days: -1 } }, /retention\.days/],
    [{ unknown: true }, /unknown/],
    [{ visibility: "all" }, /visibility/],
  ])("createTasks(%j) is a TypeError", (options, message) => {
    expect(() => createTasks(options as never)).toThrow(TypeError);
    expect(() => createTasks(options as never)).toThrow(message);
  });
  it("a lease that is none is a TypeError", async () => {
    const backend = sqliteTasks({ path: join(temporaryFolder(), "tasks.db") });
    await expect(
      backend.queue.claim({ by: { agent: "a", sessionId: "s" }, kind: "board", leaseMs: 0 }),
    ).rejects.toThrow(/leaseMs/);
    await expect(backend.queue.renew([], 0)).rejects.toThrow(/leaseMs/);
    await backend.close();
  });
});

describe("a file that is no task store", () => {
  async function refused(prepare: (path: string) => Promise<void> | void) {
    const directory = temporaryFolder();
    const path = join(directory, ".toolhaft", "tasks.db");
    mkdirSync(join(directory, ".toolhaft"));
    await prepare(path);
    const family = createTasks();
    const call = callerOf(family, { directory });
    const error = errorOf(await call("task_list", {}));
    const again = errorOf(await call("task_post", ok));
    expect(again.code).toBe(error.code);
    await family.close();
    return { ...error, path };
  }
  it("a folder, or text: unavailable with path and cause", async () => {
    const folder = await refused((path) => void mkdirSync(path));
    expect(folder.code).toBe("unavailable");
    expect(folder.message).toContain(folder.path);
    const text = await refused((path) =>
      writeFileSync(path, "not a database, but long enough to be looked at ".repeat(9)),
    );
    expect(text.code).toBe("unavailable");
    expect(readFileSync(text.path, "utf8")).toMatch(/^not a database/);
  });
  it("one of a newer version: unsupported, and left as it is", async () => {
    let before: Buffer | undefined;
    const error = await refused(async (path) => {
      const family = createTasks({ path });
      dataOf(await callerOf(family, { directory: temporaryFolder() })("task_post", ok));
      await family.close();
      const migrations = Array.from({ length: 9 }, (_, index) => ({
        version: index + 1,
        name: "later",
        up: "SELECT 1",
      }));
      (await openDatabase({ path, family: "tasks", migrations })).close();
      before = readFileSync(path);
    });
    expect(error.code).toBe("unsupported");
    expect(readFileSync(error.path).equals(before ?? Buffer.alloc(0))).toBe(true);
  });
  it.skipIf(process.getuid?.() === 0)("one that cannot be written: unavailable", async () => {
    const error = await refused((path) => {
      writeFileSync(path, "");
      chmodSync(path, 0o400);
    });
    expect(error.code).toBe("unavailable");
  });
});
