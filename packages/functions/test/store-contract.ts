import { fakeClock } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  emptyState,
  type FunctionStore,
  type NewSignal,
  type SessionState,
  type Signal,
  type SignalType,
} from "../src/index.ts";
import { classOf } from "../src/signal-types.ts";

const clock = fakeClock();
const facts = { now: 0, artifacts: {}, needles: [], text: null, seq: 0 };

function newSignal(type: SignalType, more: Partial<NewSignal> = {}): NewSignal {
  const id = `sig_${Math.random()}`;
  const none = { payload: null, agent: null, callId: null, expiresAt: null, functions: [] };
  return { id, at: clock.now(), type, class: classOf(type), ...none, ...more };
}

/** What every store of states and signals must do; nothing here knows of SQL. */
export function describeStore(name: string, open: (clock: { now(): number }) => Promise<FunctionStore>): void {
  async function opened(): Promise<FunctionStore> {
    const store = await open(clock);
    onTestFinished(() => store.close());
    return store;
  }
  /** One step: the number rises, and what `change` says. */
  const write = (
    store: FunctionStore,
    session: string,
    change: Partial<SessionState> = {},
    signal?: NewSignal,
    resolutions: readonly { of: number; at: number; kind: "resolved"; by: string }[] = [],
  ) =>
    store.transact(session, (before, { seq }) => ({
      result: seq,
      write: {
        state: { ...before, ...change, step: before.step + 1 },
        entry: { at: clock.now(), event: { type: "turn" }, facts, log: [] },
        resolutions,
        ...(signal && { signal }),
      },
    }));
  const record = (id: string) => ({
    ...{ id, name: id, role: null, phase: "active" as const, run: 1, schemaVersion: 1, activatedAt: 0, turns: 0 },
    ...{ evidence: [], values: {}, pausedBy: [], decision: null, tools: [], signals: [], fired: [], continued: 0 },
    params: { args: [], named: {} },
  });

  describe(`function store ${name}`, () => {
    it("knows nothing of a session that never stepped", async () => {
      const store = await opened();
      expect(await store.read("s")).toEqual(emptyState("s"));
      expect(await store.sessions(10)).toEqual([]);
      expect(await store.steps("s")).toEqual([]);
      expect(await store.signals.since("s")).toEqual([]);
      expect(await store.signals.openPause("s")).toBeUndefined();
      expect(await store.signals.terminating("s")).toEqual({ signals: [], latest: undefined, mostSevere: undefined });
    });

    it("gives back what was written, whole, with odd names and values", async () => {
      const store = await opened();
      const values = { k: { value: [1, "ü", null, { a: "日本 👍" }], step: 1 } };
      const functions = { "dev/a": { ...record("dev/a"), values: { __proto__x: true } }, "ü'; --": record("ü'; --") };
      await write(store, "s", { values, functions, turn: 3, agents: ["x"], todos: { total: 2, done: 1 } });
      expect(await store.read("s")).toEqual({
        ...emptyState("s"),
        ...{ step: 1, values, functions, turn: 3, agents: ["x"], todos: { total: 2, done: 1 } },
      });
    });

    it("forgets a function that a step took away and keeps the others", async () => {
      const store = await opened();
      await write(store, "s", { functions: { a: record("a"), b: record("b") } });
      await write(store, "s", { functions: { b: record("b"), c: record("c") } });
      expect(Object.keys((await store.read("s")).functions).sort()).toEqual(["b", "c"]);
    });

    it("writes nothing when the reducer says so, or throws", async () => {
      const store = await opened();
      await write(store, "s", { turn: 1 });
      expect(await store.transact("s", ({ turn }) => ({ result: turn }))).toBe(1);
      const failing = store.transact("s", () => {
        throw new Error("no");
      });
      await expect(failing).rejects.toThrow("no");
      expect(await store.read("s")).toMatchObject({ step: 1, turn: 1 });
      expect(await store.steps("s")).toHaveLength(1);
    });

    it("runs the steps of a session one after another", async () => {
      const store = await opened();
      const step = () =>
        store.transact("s", (before) => ({
          result: before.turn,
          write: {
            state: { ...before, turn: before.turn + 1, step: before.step + 1 },
            entry: { at: 0, event: { type: "turn" as const }, facts, log: [] },
            resolutions: [],
          },
        }));
      const given = await Promise.all(Array.from({ length: 30 }, step));
      expect(given.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
    });

    it("numbers signals over all sessions, strictly rising, and says the number beforehand", async () => {
      const store = await opened();
      const foretold: number[] = [];
      for (const session of ["a", "b", "a"]) foretold.push(await write(store, session, {}, newSignal("progress")));
      const seqs = async (session: string) => (await store.signals.since(session)).map(({ seq }) => seq);
      expect([...(await seqs("a")), ...(await seqs("b"))]).toEqual([foretold[0], foretold[2], foretold[1]]);
      expect(foretold).toEqual([...foretold].sort((x, y) => x - y));
      expect(await store.signals.since("a", foretold[0])).toMatchObject([{ seq: foretold[2] }]);
      expect(await store.signals.since("a", 0, 1)).toMatchObject([{ seq: foretold[0] }]);
    });

    it("finds the signal of a call in its session only", async () => {
      const store = await opened();
      await write(store, "a", {}, newSignal("answer", { callId: "c1", payload: { x: 1 } }));
      const find = (session: string, callId: string) =>
        store.transact(session, (_, { repeated }) => ({ result: repeated }), { callId });
      expect(await find("a", "c1")).toMatchObject({ type: "answer", payload: { x: 1 } });
      expect(await find("b", "c1")).toBeUndefined();
      expect(await find("a", "c2")).toBeUndefined();
    });

    it("tells subscribers after the commit, until they leave", async () => {
      const store = await opened();
      const seen: Signal[] = [];
      const leave = store.signals.subscribe((signal) => seen.push(signal));
      await write(store, "s", {}, newSignal("handoff", { payload: { target: "x" } }));
      leave();
      await write(store, "s", {}, newSignal("progress"));
      expect(seen).toEqual([(await store.signals.since("s"))[0]]);
    });

    it("knows the newest pause that is still open", async () => {
      const store = await opened();
      const first = await write(store, "s", {}, newSignal("blocked"));
      const second = await write(store, "s", {}, newSignal("need_approval"));
      const pause = (seq: number, expiresAt: number | null) => ({ seq, type: "blocked" as const, expiresAt });
      await write(store, "s", { pauses: [pause(first, null), pause(second, clock.now() + 10)] });
      expect((await store.signals.openPause("s"))?.seq).toBe(second);
      clock.advance(10);
      expect((await store.signals.openPause("s"))?.seq).toBe(first);
      await write(store, "s", { pauses: [] }, undefined, [{ of: first, at: 5, kind: "resolved", by: "human" }]);
      expect(await store.signals.openPause("s")).toBeUndefined();
      expect(await store.signals.resolutions("s")).toEqual([{ of: first, at: 5, kind: "resolved", by: "human" }]);
    });

    it("tells the latest terminating signal from the most severe", async () => {
      const store = await opened();
      const seqs: number[] = [];
      for (const type of ["escalate", "answer", "progress", "revise_needed", "escalate", "answer"] as const)
        seqs.push(await write(store, "s", {}, newSignal(type)));
      const all = await store.signals.terminating("s");
      expect(all.signals).toHaveLength(5);
      expect([all.latest?.seq, all.mostSevere?.seq]).toEqual([seqs[5], seqs[4]]);
      const later = await store.signals.terminating("s", seqs[4]);
      expect([later.signals.length, later.mostSevere?.type]).toEqual([1, "answer"]);
    });

    it("prunes what is old, but no open pause, and never gives a number twice", async () => {
      const store = await opened();
      const pause = await write(store, "s", {}, newSignal("need_approval"));
      await write(
        store,
        "s",
        { pauses: [{ seq: pause, type: "need_approval", expiresAt: null }] },
        newSignal("progress"),
      );
      clock.advance(1_000);
      const young = await write(store, "s", {}, newSignal("progress"));
      expect(await store.signals.prune({ olderThan: clock.now() })).toBe(1);
      expect((await store.signals.since("s")).map(({ seq }) => seq)).toEqual([pause, young]);
      clock.advance(1_000);
      await store.signals.prune({ olderThan: clock.now() });
      expect(await write(store, "s", {}, newSignal("progress"))).toBeGreaterThan(young);
    });

    it("prunes the steps of sessions that rest, whole, and keeps their states", async () => {
      const store = await opened();
      for (const session of ["rests", "rests", "goes on"]) await write(store, session);
      clock.advance(1_000);
      await write(store, "goes on");
      await store.signals.prune({ olderThan: clock.now() });
      expect(await store.steps("rests")).toEqual([]);
      expect(await store.steps("goes on")).toHaveLength(2);
      expect(await store.sessions(5)).toEqual(["goes on", "rests"]);
      await write(store, "rests");
      expect(await store.steps("rests")).toHaveLength(1);
    });

    it("lists sessions, the last active first", async () => {
      const store = await opened();
      for (const session of ["a", "b", "a"]) {
        clock.advance(1);
        await write(store, session);
      }
      expect(await store.sessions(10)).toEqual(["a", "b"]);
      expect(await store.sessions(1)).toEqual(["a"]);
    });

    it("closes twice, and without having been used", async () => {
      const store = await opened();
      await store.close();
      await store.close();
    });
  });
}
