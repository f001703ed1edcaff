import { existsSync, readFileSync } from "node:fs";
import { parseFunction } from "@toolhaft/asset-format";
import { describe, expect, it } from "vitest";
import type { Graph, Signal } from "../src/index.ts";
import { bad, databaseOf, good, setting } from "./setting.ts";

const human = "human";

describe("approval", () => {
  const plan = { "dev/plan": "gate: user_approval" };
  it("approval-1: a user's message approves nothing", async () => {
    const { on, step, state } = await setting(plan);
    await on("plan");
    await step({ type: "message", text: "no, not yet" });
    const [one] = (await state()).functions;
    expect(one).toMatchObject({ phase: "gated", gate: { value: false, why: ["user_approval: no approval in run 1"] } });
  });
  it("approval-2: approved, then rejected", async () => {
    const { on, step, phase } = await setting(plan);
    await on("plan");
    await step({ type: "approval", decision: "approved", by: human });
    expect(await phase("dev/plan")).toBe("active");
    await step({ type: "approval", decision: "rejected", by: human });
    expect(await phase("dev/plan")).toBe("gated");
  });
  it("approval-3: an approval is for its run", async () => {
    const { on, off, step, state } = await setting(plan);
    await on("plan");
    await step({ type: "approval", decision: "approved", by: human });
    await off("plan");
    await on("plan");
    expect((await state()).functions[0]).toMatchObject({ phase: "gated", run: 2 });
  });
});

describe("roles", () => {
  it("roles-1: the namesake of another role is another function", async () => {
    const { on, state } = await setting({ "dev/plan": "gate: user_approval", "qa/plan": "" });
    await on("dev/plan");
    expect((await state()).functions).toMatchObject([{ id: "dev/plan", gate: { expr: "user_approval" } }]);
  });
  it("roles-2: two instances over two directories", async () => {
    const [first, second] = [await setting({ plan: "" }), await setting({ plan: "" })];
    await first.on("plan");
    expect((await second.state()).session.known).toBe(false);
    expect((await first.state()).functions).toHaveLength(1);
  });
  it("roles-3: a transition ends the function of its own role", async () => {
    const { on, turn, phase } = await setting({
      "dev/plan": "transitions: [{when: turn_count(1), deactivate: [plan]}]",
      "qa/plan": "",
    });
    await on("dev/plan", "qa/plan");
    await turn();
    expect([await phase("dev/plan"), await phase("qa/plan")]).toEqual(["none", "active"]);
  });
});

describe("pending", () => {
  const specs = { "dev/a": "transitions: [{when: turn_count(2), activate: [b]}]", "dev/b": "" };
  it("pending-1: fired and not fired are told apart", async () => {
    const { on, turn, state, call } = await setting(specs);
    await on("a");
    await turn();
    const transition = async () => (await state()).functions.find(({ id }) => id === "dev/a")?.transitions[0];
    expect(await transition()).toMatchObject({ firedAt: null, value: false, why: ["turn_count(2): 1 of 2"] });
    expect((await call("function_state")).text).toContain(
      "Not fired: dev/a when turn_count(2) → activate b: false (turn_count(2): 1 of 2)",
    );
    await turn();
    expect((await transition())?.firedAt).toEqual(expect.any(Number));
    expect((await state()).functions.map(({ id, phase }) => `${id} ${phase}`)).toEqual([
      "dev/a active",
      "dev/b active",
    ]);
    expect((await call("function_state")).text).not.toContain("Not fired");
  });
  it("pending-2: one firing a run", async () => {
    const { on, off, turn, phase } = await setting(specs);
    await on("a");
    await turn(2);
    await off("b");
    await turn(2);
    expect(await phase("dev/b")).toBe("none");
  });
  it("pending-3: looking fires nothing and writes nothing", async () => {
    const { on, family, call, session, directory } = await setting({
      "dev/a": "transitions: [{when: artifact_exists(p), activate: [b]}]",
      "dev/b": "",
    });
    await on("a");
    const { fileArtifacts } = await import("../src/index.ts");
    await fileArtifacts(`${directory}/.toolhaft/artifacts`).write(session, "p", "x");
    await call("function_state");
    const bytes = () =>
      [databaseOf(directory), `${databaseOf(directory)}-wal`].map((path) =>
        existsSync(path) ? readFileSync(path).toString("base64") : "",
      );
    const before = bytes();
    for (let time = 0; time < 2; time++) {
      const { functions } = good<{ functions: unknown[] }>(await call("function_state"));
      expect(functions).toMatchObject([{ transitions: [{ value: true, firedAt: null }] }]);
    }
    expect(bytes()).toEqual(before);
    await family.engine.step(session, { type: "turn" });
    expect((await family.engine.state(session)).functions).toHaveLength(2);
  });
});

describe("artifact", () => {
  it("artifact-1: shown and stored under one key", async () => {
    const { on, art, state } = await setting({ "dev/a": 'produces: "Plan v2"' });
    await on("a");
    await art("Plan v2", "x");
    const [shown] = (await state()).functions[0]?.artifacts ?? [];
    expect(shown).toMatchObject({ name: "Plan v2", use: "produces", state: "present" });
    expect(readFileSync(shown?.path ?? "", "utf8")).toBe("x");
  });
  it("artifact-2: white space is nothing", async () => {
    const { on, art, phase, state } = await setting({ "dev/a": "gate: artifact_exists(p)\nproduces: p" });
    await on("a");
    await art("p", "  \n");
    expect(await phase("dev/a")).toBe("gated");
    expect((await state()).functions[0]?.artifacts).toMatchObject([{ state: "empty" }]);
  });
  it("artifact-3: three names, three files", async () => {
    const { art, state } = await setting();
    await art("a/b", "1");
    await art("a_b", "2");
    await art("a b", "3");
    const artifacts = (await state()).artifacts ?? [];
    expect(artifacts.map(({ name, path }) => [name, readFileSync(path, "utf8")])).toEqual([
      ["a b", "3"],
      ["a/b", "1"],
      ["a_b", "2"],
    ]);
    expect(new Set(artifacts.map(({ path }) => path)).size).toBe(3);
  });
});

describe("phase", () => {
  it("phase-1: a pause ends", async () => {
    const { on, sig, res, state } = await setting({ "dev/f": "" });
    await on("f");
    await sig("need_approval");
    expect((await state()).functions).toMatchObject([{ phase: "paused", evidence: { other: ["paused"] } }]);
    await res(1);
    expect((await state()).functions).toMatchObject([{ phase: "active", evidence: { other: [] } }]);
  });
  it("phase-2: complete stays complete", async () => {
    const { on, art, turn, phase } = await setting({
      "dev/f": "gate: artifact_exists(p)\ncontinue_until: turn_count(1)",
    });
    await art("p", "x");
    await on("f");
    expect(await phase("dev/f")).toBe("active");
    await turn();
    expect(await phase("dev/f")).toBe("complete");
    for (const text of ["", "y"]) {
      await art("p", text);
      expect(await phase("dev/f")).toBe("complete");
      await turn();
      expect(await phase("dev/f")).toBe("complete");
    }
  });
  it("phase-3: an answered question pauses once", async () => {
    const { on, sig, res, phase, family, session } = await setting({
      "dev/f": "continue_until: signal_observed(answer)",
    });
    await on("f");
    await sig("need_approval");
    await res(1);
    await sig("answer");
    expect(await phase("dev/f")).toBe("complete");
    expect(await family.signals.openPause(session)).toBeUndefined();
    expect((await family.signals.since(session)).filter((one) => one.class === "pausing")).toHaveLength(1);
  });
  it("phase-4: the gate decides after a pause", async () => {
    const { on, sig, res, art, phase } = await setting({ "dev/f": "gate: artifact_exists(p)" });
    await on("f");
    await sig("blocked");
    expect(await phase("dev/f")).toBe("paused");
    await res(1);
    expect(await phase("dev/f")).toBe("gated");
    await art("p", "x");
    expect(await phase("dev/f")).toBe("active");
  });
  it("phase-5: a terminating signal supersedes the pause", async () => {
    const { on, sig, phase, family, session } = await setting({ "dev/f": "continue_until: turn_count(9)" });
    await on("f");
    await sig("need_approval");
    await sig("answer");
    expect(await phase("dev/f")).toBe("complete");
    expect(await family.signals.openPause(session)).toBeUndefined();
    expect(await family.signals.resolutions(session)).toMatchObject([{ of: 1, kind: "superseded" }]);
  });
});

describe("graph", () => {
  it("graph-1: data flows through the artifact", async () => {
    const { call } = await setting({ "dev/a": "produces: p", "dev/b": "consumes: p" });
    const result = await call("function_graph");
    expect(good<Graph>(result).edges).toEqual([
      { from: "dev/a", to: "p", kind: "produces" },
      { from: "p", to: "dev/b", kind: "consumes" },
    ]);
    expect(result.text).toContain("dev/a --produces--> [p]\n[p] --consumes--> dev/b");
  });
  it("graph-2: a cycle of requirements", async () => {
    const { call } = await setting({ "dev/a": "requires: [b]", "dev/b": "requires: [a]" });
    expect(good<Graph>(await call("function_graph")).cycles).toEqual([["dev/a", "dev/b"]]);
  });
  it("graph-3: mermaid reads a name with quotes and pipes", async () => {
    const { call } = await setting({ "dev/a": 'produces: "re\\"port | 1"' });
    const { text } = await call("function_graph", { format: "mermaid" });
    const { parseMermaid } = await import("./mermaid.ts");
    const { labels } = await parseMermaid(text);
    expect(labels).toContain('re"port | 1');
  });
  it("graph-4: what nobody makes and what nobody defines", async () => {
    const { call } = await setting({ "dev/b": "consumes: q", "dev/a": "requires: [zz]" });
    const { unproduced, unknown, nodes } = good<Graph>(await call("function_graph"));
    expect(unproduced).toEqual(["q"]);
    expect(unknown).toEqual(["zz"]);
    expect(nodes.find(({ id }) => id === "zz")).toMatchObject({ missing: true, kind: "function" });
  });
});

describe("cond", () => {
  it.each([
    ["cond-1", "gate: 'state_eq(\"mode=a=b\")'", "a=b"],
    ["cond-2", "gate: 'state_eq(\"mode=x)\")'", "x)"],
  ])("%s: a quoted argument", async (_, lines, value) => {
    const { on, step, phase } = await setting({ f: lines });
    await step({ type: "value", key: "mode", value });
    await on("f");
    expect(await phase("f")).toBe("active");
    expect(parseFunction(`---\n${lines}\n---\n`, "f.md").problems).toEqual([]);
  });
  it("cond-3: an unknown name shuts the gate, also under not", async () => {
    const { on, state } = await setting({ f: "gate: {not: user_aproval}" });
    await on("f");
    const [one] = (await state()).functions;
    expect(one).toMatchObject({ phase: "gated", gate: { value: false } });
    expect(one?.problems.join()).toMatch(/unknown_condition.*user_approval/);
  });
  it.each(["gate: turn_count(abc)", 'gate: "artifact_exists("', "gate: {all: []}"])(
    "cond-4, cond-5: %s is a problem with its place, never an open gate",
    async (lines) => {
      const { on, state } = await setting({ f: lines });
      await on("f");
      const [one] = (await state()).functions;
      expect(one?.phase).toBe("gated");
      expect(one?.problems.join()).toMatch(/condition_syntax \(2:\d+\): /);
    },
  );
});

describe("ledger", () => {
  it("ledger-1: three of one type are three rows", async () => {
    const { sig, clock, family, session } = await setting();
    for (const message of ["1", "2", "3"]) {
      await sig("progress", { message });
      clock.advance(1);
    }
    const rows = await family.signals.since(session);
    expect(rows.map(({ payload }) => payload)).toEqual([{ message: "1" }, { message: "2" }, { message: "3" }]);
    for (const key of ["seq", "at"] as const) {
      const values = rows.map((row) => row[key]);
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
    }
  });
  it("ledger-2: sessions apart", async () => {
    const { sig, family, session } = await setting();
    await sig("progress", { message: "mine" });
    await sig("progress", { message: "other" }, { sessionId: "ses-two" });
    const texts = async (id: string) => (await family.signals.since(id)).map(({ payload }) => payload?.message);
    expect([await texts(session), await texts("ses-two")]).toEqual([["mine"], ["other"]]);
  });
  it("ledger-3: the latest and the most severe", async () => {
    const { sig, family, session } = await setting();
    await sig("escalate");
    await sig("answer");
    const { latest, mostSevere, signals } = await family.signals.terminating(session);
    expect([latest?.type, mostSevere?.type, signals.length]).toEqual(["answer", "escalate", 2]);
  });
});

describe("alone, payload, capture", () => {
  it("alone-1: a signal without a function is kept", async () => {
    const { sig } = await setting();
    const result = await sig("blocked", { on: "review" });
    const { seq, recordedOn, session } = good<{ seq: number; recordedOn: number; session: unknown }>(result);
    expect(recordedOn).toBe(0);
    expect(session).toEqual({ openPause: seq, latestTerminating: null });
    expect(result.text).toBe(`Signal blocked recorded (#${seq}), no active function`);
  });
  it("payload-1: a handoff names its target and changes no phase", async () => {
    const { on, sig, phase } = await setting({ f: "" });
    await on("f");
    expect((await sig("handoff", { target: "reviewer" })).text).toContain("reviewer");
    expect(await phase("f")).toBe("active");
  });
  it("payload-2: a handoff without a target", async () => {
    const { sig } = await setting();
    expect((await sig("handoff", {})).text).toContain("no target given");
  });
  it("payload-3: a known field of the wrong kind", async () => {
    const { sig, family, session } = await setting();
    const result = await sig("progress", { percent: 150 });
    expect(bad(result)).toMatchObject({ code: "invalid_input" });
    expect(result.text).toMatch(/percent.*0 to 100/);
    expect(await family.signals.since(session)).toEqual([]);
  });
  it("payload-4: other fields are kept", async () => {
    const { sig, family, session } = await setting();
    await sig("handoff", { target: "x", ticket: 5 });
    expect((await family.signals.since(session))[0]?.payload).toEqual({ target: "x", ticket: 5 });
  });
  const capturing = { "dev/f": "observe: [{on: signal, capture_payload_as: decision}]", "qa/f": "" };
  it("capture-1: only the function that declares it captures", async () => {
    const { on, sig, state } = await setting(capturing);
    await on("qa/f");
    await sig("answer", { x: 1 });
    expect((await state()).artifacts).toEqual([]);
  });
  it("capture-2: the payload as JSON", async () => {
    const { on, sig, state } = await setting(capturing);
    await on("dev/f");
    await sig("answer", { x: 1 });
    const [artifact] = (await state()).artifacts ?? [];
    expect(artifact).toMatchObject({ name: "decision", path: expect.stringMatching(/\.json$/) });
    expect(JSON.parse(readFileSync(artifact?.path ?? "", "utf8"))).toEqual({ x: 1 });
  });
});

it("a signal is in the log with all that was known", async () => {
  const { on, sig, family, session } = await setting({ "dev/plan": "", "dev/review": "" });
  await on("dev/plan", "dev/review");
  const seen: Signal[] = [];
  const end = family.signals.subscribe((signal) => seen.push(signal));
  const result = await sig("need_approval", { question: "Go?" }, { agent: "worker", callId: "call-1" });
  end();
  await sig("progress");
  expect(result.text).toBe(
    "Signal need_approval recorded (#1) on 2 functions | paused: dev/plan, dev/review until #1 is resolved",
  );
  expect(seen).toEqual([await family.signals.openPause(session)]);
  expect(seen[0]).toMatchObject({ seq: 1, agent: "worker", callId: "call-1", class: "pausing", session });
});
