import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, utimesSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { runs } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace } from "../src/index.ts";
import { arena } from "./arena.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";
import { run } from "./fixtures/scenarios.mjs";
import { callsOf, expectNothingLeft, inTurns, newPlace, type Place, recoverHere, runChild, treeOf } from "./kills.ts";

type State = "staging" | "committing";

/** The call of a scenario that brings its journal into a state: every run makes the same calls. */
async function callReaching(state: State, scenario: string): Promise<number> {
  const calls = await callsOf(scenario, false);
  // The first new body is staged under a temporary name; the decision is a rename.
  return calls.findIndex(({ name, args }) =>
    state === "staging"
      ? name === "open" && String(args[0]).includes("/.toolhaft-")
      : name === "rename" && String(args[1]).endsWith("committing.json"),
  );
}

/** A place whose commit was killed right after its journal came into a state. */
async function killedInState(state: State, scenario: string, call?: number): Promise<Place & AsyncDisposable> {
  const reached = call ?? (await callReaching(state, scenario));
  const place = await newPlace();
  expect(await runChild(place, { scenario, fsync: false, killAt: reached + 2 })).toBeUndefined();
  const commits = join(place.root, ".toolhaft/workspace/commits");
  expect(readdirSync(join(commits, readdirSync(commits)[0] ?? ""))).toContain(`${state}.json`);
  return place;
}

describe("a second process that meets a dead lock", () => {
  it("recovers that commit without reopening, and goes on with its own", async () => {
    await using place = await newPlace();
    await using workspace = createWorkspace({ ...place, fsync: false });
    const scope = { directory: place.root };
    await change(workspace, [create("warm.txt", "x\n")], scope);
    await using killed = await killedInState("committing", "five");
    // The same crash under the eyes of a workspace that is open already.
    const calls = await callsOf("three", false);
    const decided = calls.findIndex(
      ({ name, args }) => name === "rename" && String(args[1]).endsWith("committing.json"),
    );
    expect(await runChild(place, { scenario: "three", fsync: false, killAt: decided + 4 })).toBeUndefined();
    expect(readdirSync(place.lockDir).some((name) => name.endsWith(".lock"))).toBe(true);
    const { notes } = await replaceLine(workspace, "a.txt", 1, ["mine"], scope);
    expect(notes.join()).toMatch(/commit \w+ of a process that died was (finished|taken back)/);
    expect(readFileSync(join(place.root, "a.txt"), "utf8").split("\n")[0]).toBe("mine");
    expect(readdirSync(place.lockDir)).toEqual([]);
    const again = await replaceLine(workspace, "a.txt", 1, ["again"], scope);
    expect(again.notes).toEqual([]);
    await recoverHere(killed);
  });
});

describe("recovery", () => {
  it("leaves foreign content alone, reports it, and finishes the rest", async () => {
    await using place = await killedInState("committing", "five");
    writeFileSync(join(place.root, "a.txt"), "theirs\n");
    const [recovery] = await recoverHere(place);
    expect(recovery).toMatchObject({ outcome: "finished", sessionId: "s" });
    expect(recovery?.files).toContainEqual({ path: join(place.root, "a.txt"), state: "left-alone" });
    expect(readFileSync(join(place.root, "a.txt"), "utf8")).toBe("theirs\n");
    expect(readFileSync(join(place.root, "new/deep/b.txt"), "utf8")).toBe("b\n");
    expect(existsSync(join(place.root, "f.txt"))).toBe(false);
    expectNothingLeft(place);
  });

  it("keeps what it finds in a file that was being written in place, and writes it whole", async () => {
    await using place = await killedInState("committing", "in-place");
    writeFileSync(join(place.root, "c.txt"), "C line 1\nC li");
    const [recovery] = await recoverHere(place);
    const [file] = recovery?.files ?? [];
    expect(file).toMatchObject({
      path: join(place.root, "c.txt"),
      state: "torn",
      found: expect.stringMatching(/found-1$/),
    });
    expect(readFileSync(file?.found ?? "", "utf8")).toBe("C line 1\nC li");
    expect(readFileSync(join(place.root, "c-twin.txt"), "utf8")).toMatch(/^C line 1\n.*C line 9\n$/s);
    expectNothingLeft(place);
  });

  it("does not touch the commit of a process that lives", async () => {
    await using place = await newPlace();
    let seen: unknown;
    await using mine = createWorkspace({ ...place, fsync: false });
    await mine.edit(
      ["a.txt"],
      () => {
        seen = readdirSync(place.lockDir).length;
        return { changes: [], result: undefined };
      },
      { directory: place.root },
    );
    expect(seen).toBe(2);
    let release = () => {};
    const gate = new Promise<void>((resolve) => {
      release = resolve;
    });
    const { nodeFileSystem } = await import("../src/index.ts");
    const slow = createWorkspace({
      ...place,
      fsync: false,
      fileSystem: {
        ...nodeFileSystem,
        async unlink(path) {
          if (path.endsWith("/f.txt")) await gate;
          return nodeFileSystem.unlink(path);
        },
      },
    });
    const running = run(slow, place.root, "three");
    while (readFileSync(join(place.root, "a.txt"), "utf8").startsWith("a line"))
      await new Promise((resolve) => setImmediate(resolve));
    await using other = createWorkspace({ ...place, fsync: false });
    expect(await other.recover()).toEqual([]);
    expect(existsSync(join(place.root, "f.txt"))).toBe(true);
    release();
    await running;
    await slow.close();
    expect(existsSync(join(place.root, "f.txt"))).toBe(false);
  });

  it("works where the lock folder is gone", async () => {
    await using place = await killedInState("committing", "five");
    const { rmSync } = await import("node:fs");
    rmSync(place.lockDir, { recursive: true });
    const [recovery] = await recoverHere(place);
    expect(recovery?.outcome).toBe("finished");
    expectNothingLeft(place);
  });

  it("drops staged files of dead processes", async () => {
    await using place = await arena({ a: "a\n" });
    const staged = await place.workspace.stage(place.scope);
    const folder = join(place.root, ".toolhaft/workspace/staged");
    const dead = staged.path.replace(/\/\d+-/, "/4194304-");
    writeFileSync(dead, "rest of a download");
    await place.again().recover();
    expect(readdirSync(folder)).toEqual([staged.path.split("/").at(-1)]);
    await staged.discard();
    expect(readdirSync(folder)).toEqual([]);
  });

  it("is told once, by the next reply", async () => {
    await using place = await killedInState("committing", "five");
    await using workspace = createWorkspace({ ...place, fsync: false });
    const scope = { directory: place.root };
    await workspace.read("a.txt", scope);
    const first = await replaceLine(workspace, "a.txt", 1, ["mine"], scope);
    expect(first.notes).toEqual([expect.stringContaining("of a process that died was finished")]);
    const second = await replaceLine(workspace, "a.txt", 1, ["yours"], scope);
    expect(second.notes).toEqual([]);
  });

  it("finds a whole tree again after a kill at any call of the rollback", { timeout: 1_800_000 }, async () => {
    const old = await treeBefore();
    // The last delete fails, when everything before it is done.
    const failAt =
      (await callsOf("three", false)).findIndex(
        ({ name, args }) => name === "unlink" && String(args[0]).endsWith("/f.txt"),
      ) + 1;
    const { length: calls } = await callsOf("three", false, failAt);
    expect(calls).toBeGreaterThan(failAt + 20);
    await inTurns(sample(failAt + 1, calls, runs(120)), async (killAt) => {
      await using place = await newPlace();
      expect(await runChild(place, { scenario: "three", fsync: false, failAt, killAt })).toBeUndefined();
      await recoverHere(place);
      const tree = treeOf(place.root);
      expect([old, newOf.three], `killed at ${killAt} of ${calls}, failed at ${failAt}`).toContain(tree);
      expectNothingLeft(place);
    });
  });

  it("finds a whole tree again after a kill at any call of a recovery", { timeout: 1_800_000 }, async () => {
    const old = await treeBefore();
    for (const [state, share] of [
      ["committing", 80],
      ["staging", 40],
    ] as const) {
      await using probe = await killedInState(state, "five");
      const calls = (await runChild(probe, { scenario: "recover", fsync: false, killAt: 0 }))?.calls ?? 0;
      expect(calls).toBeGreaterThan(20);
      // The last calls let go of what the recovery itself held.
      const last = Array.from({ length: 6 }, (_, k) => calls - k);
      const reached = await callReaching(state, "five");
      await inTurns([...new Set([...sample(1, calls, runs(share)), ...last])], async (killAt) => {
        await using place = await killedInState(state, "five", reached);
        expect(await runChild(place, { scenario: "recover", fsync: false, killAt })).toBeUndefined();
        await recoverHere(place);
        expect(treeOf(place.root), `${state}, killed at ${killAt} of ${calls}`).toBe(
          state === "staging" ? old : newOf.five,
        );
        expectNothingLeft(place);
      });
    }
  });
});

const newOf = { three: await treeAfter("three"), five: await treeAfter("five") };

async function treeBefore(): Promise<string> {
  await using place = await newPlace();
  return treeOf(place.root);
}

async function treeAfter(scenario: string): Promise<string> {
  await using place = await newPlace();
  await using workspace = createWorkspace({ ...place, fsync: false, undo: { commits: 0 } });
  await run(workspace, place.root, scenario);
  return treeOf(place.root);
}

/** Calls from `first` to `last`, evenly, at most `count`. */
function sample(first: number, last: number, count: number): number[] {
  const all = Array.from({ length: last - first + 1 }, (_, k) => first + k);
  const step = Math.max(1, all.length / count);
  return all.filter((_, k) => Math.floor(k / step) !== Math.floor((k - 1) / step));
}

describe("locks", () => {
  const holder = (own: Record<string, unknown>) => ({
    pid: process.pid,
    processStart: null,
    host: hostname(),
    pidNamespace: "",
    token: "00000000-aaaa",
    journal: "/nowhere/commits/x",
    ...own,
  });

  /** The path of the lock file of `a`, and a real holder's facts. */
  async function heldLock(place: Awaited<ReturnType<typeof arena>>) {
    let name = "";
    let text = "";
    await place.workspace.edit(
      ["a"],
      () => {
        name = place.locks().find((file) => file.endsWith(".lock")) ?? "";
        text = readFileSync(join(place.lockDir, name), "utf8");
        return { changes: [], result: undefined };
      },
      place.scope,
    );
    const facts: Record<string, unknown> = JSON.parse(text);
    return { path: join(place.lockDir, name), facts };
  }

  it("hold pid, start, host, namespace, token and journal, in a folder of mode 0700", async () => {
    await using place = await arena({ a: "a\n" });
    const { facts } = await heldLock(place);
    expect(Object.keys(facts).sort()).toEqual(["host", "journal", "pid", "pidNamespace", "processStart", "token"]);
    expect(facts).toMatchObject({
      pid: process.pid,
      host: hostname(),
      journal: expect.stringContaining(join(place.root, ".toolhaft/workspace/commits/")),
    });
    expect(place.locks()).toEqual([]);
  });

  it("of a live process are never broken: waiting ends in timeout with the holder", async () => {
    await using place = await arena({ a: "a\n" });
    const { path, facts } = await heldLock(place);
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000); process.stdout.write('up')"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const { processStart } = await import("@toolhaft/core/node");
    writeFileSync(
      path,
      JSON.stringify(holder({ ...facts, pid: child.pid, processStart: await processStart(child.pid ?? 0) })),
    );
    const long = new Date(Date.now() - 3_600_000);
    utimesSync(path, long, long);
    const workspace = place.again({ lockTimeoutMs: 300 });
    const error = await expectError(
      replaceLine(workspace, "a", 1, ["A"], place.scope),
      "timeout",
      `process ${child.pid}`,
    );
    expect(error.message).toContain("3600 s");
    expect(error.retryable).toBe(true);
    expect(existsSync(path)).toBe(true);
    child.kill("SIGKILL");
    await new Promise((resolve) => child.once("close", resolve));
    await replaceLine(workspace, "a", 1, ["A"], place.scope);
    expect(place.locks()).toEqual([]);
  });

  it.runIf(process.platform === "linux")("of a recycled pid are dead", async () => {
    await using place = await arena({ a: "a\n" });
    const { path, facts } = await heldLock(place);
    writeFileSync(path, JSON.stringify(holder({ ...facts, pid: process.ppid, processStart: "another boot:1" })));
    await replaceLine(place.workspace, "a", 1, ["A"], place.scope);
    expect(place.locks()).toEqual([]);
  });

  it("of a holder that cannot be seen are dead only when they were not touched for 30 s", async () => {
    await using place = await arena({ a: "a\n" });
    const { path, facts } = await heldLock(place);
    writeFileSync(path, JSON.stringify(holder({ ...facts, host: "elsewhere", pid: 1 })));
    const workspace = place.again({ lockTimeoutMs: 200 });
    await expectError(replaceLine(workspace, "a", 1, ["A"], place.scope), "timeout", "elsewhere");
    const old = new Date(Date.now() - 31_000);
    utimesSync(path, old, old);
    await replaceLine(workspace, "a", 1, ["A"], place.scope);
    expect(place.locks()).toEqual([]);
  });

  it("that a crash left empty are dead after 30 s", async () => {
    await using place = await arena({ a: "a\n" });
    const { path } = await heldLock(place);
    writeFileSync(path, "");
    const workspace = place.again({ lockTimeoutMs: 200 });
    await expectError(replaceLine(workspace, "a", 1, ["A"], place.scope), "timeout", "unreadable lock");
    const old = new Date(Date.now() - 31_000);
    utimesSync(path, old, old);
    await replaceLine(workspace, "a", 1, ["A"], place.scope);
    expect(place.locks()).toEqual([]);
  });

  it("that were broken while their holder slept stop its commit before anything is written", async () => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    const attempt = place.workspace.edit(
      ["a", "b"],
      () => {
        for (const name of place.locks())
          if (name.endsWith(".lock")) writeFileSync(join(place.lockDir, `${name}.new`), JSON.stringify(holder({})));

        for (const name of place.locks())
          if (name.endsWith(".lock")) renameSync(join(place.lockDir, `${name}.new`), join(place.lockDir, name));
        return { changes: ["a", "b"].map((path) => ({ kind: "delete" as const, path })), result: undefined };
      },
      place.scope,
    );
    await expectError(attempt, "conflict", "the lock was broken");
    expect([await place.read("a"), await place.read("b")]).toEqual(["a\n", "b\n"]);
    // The locks are somebody else's now: they are left.
    expect(place.locks().filter((name) => name.endsWith(".lock"))).toHaveLength(2);
  });

  it("in a folder that is a link, or open to others, are refused", async () => {
    await using place = await arena({ a: "a\n" });
    const { symlinkSync, chmodSync } = await import("node:fs");
    symlinkSync(place.lockDir, `${place.lockDir}-link`);
    await expectError(
      replaceLine(place.again({ lockDir: `${place.lockDir}-link` }), "a", 1, ["A"], place.scope),
      "denied",
      "lock folder",
    );
    mkdirSync(`${place.lockDir}-open`);
    chmodSync(`${place.lockDir}-open`, 0o777);
    await expectError(
      replaceLine(place.again({ lockDir: `${place.lockDir}-open` }), "a", 1, ["A"], place.scope),
      "denied",
      "lock folder",
    );
  });

  it("waiting for one ends when the caller cancels", async () => {
    await using place = await arena({ a: "a\n" });
    const { path, facts } = await heldLock(place);
    writeFileSync(path, JSON.stringify(facts));
    const stop = new AbortController();
    const waiting = replaceLine(place.again(), "a", 1, ["A"], { ...place.scope, signal: stop.signal });
    setImmediate(() => stop.abort());
    await expectError(waiting, "cancelled", "nothing was written");
    expect(place.locks()).toEqual([path.split("/").at(-1)]);
    expect(await place.read("a")).toBe("a\n");
  });
});
