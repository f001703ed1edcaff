import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  createFunctions,
  emptyState,
  type FunctionEvent,
  type FunctionSpec,
  type LogEntry,
  memoryArtifacts,
  memoryStore,
  type OuterFacts,
  reduceStep,
  type SessionState,
  signalTypes,
  staticSpecs,
} from "../src/index.ts";
import { specOf } from "./spec-of.ts";

const conditions = [
  "user_approval",
  "artifact_exists(p)",
  "evidence_met",
  "tool_observed(bash)",
  "signal_observed(answer)",
  "signal_observed(need_approval)",
  "turn_count(1)",
  "turn_count(2)",
  'state_eq("k=1")',
  "plan_todos_complete",
  "plan_incomplete(p)",
  "gate",
  "{not: artifact_exists(p)}",
  "{any: [turn_count(3), user_approval]}",
  "{all: [gate, evidence_met]}",
  "nobody_knows",
];
const names = ["a", "b", "c"];
const ids = ["dev/a", "dev/b", "dev/c", "qa/a", "b"];

const condition = fc.constantFrom(...conditions);
const some = fc.subarray(names);
const lines = fc
  .record({
    gate: fc.option(condition),
    until: fc.option(condition),
    requires: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: some }),
    evidence: fc.subarray(["e1", "e2"]),
    transitions: fc.array(fc.record({ when: condition, activate: some, deactivate: some }), { maxLength: 2 }),
    version: fc.constantFrom(1, 1, 1, 2),
    priority: fc.constantFrom(10, 50, 90),
  })
  .map(({ gate, until, requires, evidence, transitions, version, priority }) =>
    [
      ...(gate === null ? [] : [`gate: ${gate.startsWith("{") ? gate : JSON.stringify(gate)}`]),
      ...(until === null ? [] : [`continue_until: ${until.startsWith("{") ? until : JSON.stringify(until)}`]),
      `requires: [${requires.join(", ")}]`,
      `requires_evidence: [${evidence.join(", ")}]`,
      `state_schema_version: ${version}`,
      `priority: ${priority}`,
      ...(transitions.length > 0 ? ["transitions:"] : []),
      ...transitions.map(
        ({ when, activate, deactivate }) =>
          `  - {when: ${when.startsWith("{") ? when : JSON.stringify(when)}, activate: [${activate.join(", ")}], deactivate: [${deactivate.join(", ")}]}`,
      ),
    ].join("\n"),
  );
const specs = fc.tuple(...ids.map((id) => lines.map((text) => specOf(id, text))));

type Move = { event: FunctionEvent; advance: number; artifact: "missing" | "empty" | "present" };
const event: fc.Arbitrary<FunctionEvent> = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ids).map((id): FunctionEvent => ({ type: "activate", function: id })) },
  fc.constantFrom(...ids).map((id): FunctionEvent => ({ type: "deactivate", function: id })),
  fc.constant<FunctionEvent>({ type: "turn" }),
  fc.constant<FunctionEvent>({ type: "message", text: "approved! yes, stop, no" }),
  fc
    .constantFrom("approved" as const, "rejected" as const)
    .map((decision): FunctionEvent => ({ type: "approval", decision, by: "human" })),
  fc.boolean().map((ok): FunctionEvent => ({ type: "tool", name: "bash", ok })),
  fc.constantFrom("e1", "e2").map((label): FunctionEvent => ({ type: "evidence", label })),
  fc.constantFrom(1, 2).map((value): FunctionEvent => ({ type: "value", key: "k", value })),
  fc.nat({ max: 2 }).map((done): FunctionEvent => ({ type: "todos", total: 2, done })),
  {
    weight: 3,
    arbitrary: fc.constantFrom(...signalTypes).map(
      (signal): FunctionEvent => ({
        type: "signal",
        signal,
        ...(signal === "blocked" && { payload: { timeout_ms: 1_000 } }),
      }),
    ),
  },
  fc.integer({ min: 1, max: 12 }).map((seq): FunctionEvent => ({ type: "resolve", seq, by: "human" })),
  fc.constant<FunctionEvent>({ type: "idle" }),
);
const moves = fc.array(
  fc.record({
    event,
    advance: fc.constantFrom(0, 1, 600),
    artifact: fc.constantFrom("missing" as const, "empty" as const, "present" as const),
  }),
  { maxLength: 25 },
);

interface Shown {
  before: SessionState;
  after: SessionState;
  event: FunctionEvent;
  facts: OuterFacts;
  log: readonly LogEntry[];
}

function play(specs: readonly FunctionSpec[], moves: readonly Move[]): Shown[] {
  let state = emptyState("s");
  let now = 1_000;
  let seq = 1;
  return moves.map(({ event, advance, artifact }) => {
    now += advance;
    const facts = { now, artifacts: { p: { state: artifact, unchecked: 0 } }, needles: [], text: null, seq };
    const before = state;
    const step = reduceStep(before, event, specs, facts);
    state = step.state;
    if (event.type === "signal") seq++;
    return { before, after: state, event, facts, log: step.log };
  });
}

const runsOf = 6_000;
/** What holds of every step of every workflow. */
const invariants: Readonly<Record<string, (shown: Shown, specs: readonly FunctionSpec[]) => void>> = {
  "takes no edge that the table does not have": ({ log, event }) => {
    const allowed = new Set([
      ...["none>gated", "complete>gated"],
      ...["gated>active", "active>gated", "active>paused", "gated>paused"],
      ...["paused>active", "paused>gated", "paused>complete", "active>complete", "gated>complete"],
      ...["active>none", "gated>none", "paused>none", "complete>none"],
    ]);
    for (const entry of log) if (entry.kind === "phase") expect(allowed).toContain(`${entry.from}>${entry.to}`);
    const pausing =
      event.type === "signal" && ["need_approval", "blocked", "need_clarification"].includes(event.signal);
    for (const entry of log) if (entry.kind === "phase" && entry.to === "paused") expect(pausing).toBe(true);
  },
  "keeps complete complete until it is activated or ended": ({ before, after, log }) => {
    for (const record of Object.values(before.functions)) {
      if (record.phase !== "complete") continue;
      const now = after.functions[record.id];
      const begunAnew = now !== undefined && now.run > record.run;
      const ended = log.some((entry) => entry.kind === "deactivated" && entry.function === record.id);
      expect(now?.phase === "complete" || begunAnew || ended).toBe(true);
    }
  },
  "is paused exactly while a pause of the run is open, and says so in the evidence": ({ after }) => {
    const open = new Set(after.pauses.map(({ seq }) => seq));
    for (const { phase, pausedBy, evidence } of Object.values(after.functions)) {
      expect(pausedBy.every((seq) => open.has(seq))).toBe(true);
      if (phase === "complete") continue;
      expect(phase === "paused").toBe(pausedBy.length > 0);
      expect(evidence.includes("paused")).toBe(phase === "paused");
    }
  },
  "holds no function active whose gate is shut or whose need is not met": ({ after, facts, log }, specs) => {
    if (log.some((entry) => entry.kind === "problem" && entry.problem.startsWith("step_limit"))) return;
    // Nothing happens twice: the same facts again change no phase.
    const again = reduceStep(after, { type: "message" }, specs, facts);
    const phasesOf = (state: SessionState) => Object.values(state.functions).map(({ id, phase }) => `${id} ${phase}`);
    expect(phasesOf(again.state)).toEqual(phasesOf(after));
    for (const record of Object.values(after.functions)) {
      const spec = specs.find(({ id }) => id === record.id);
      if (record.phase !== "active" || spec?.gate === undefined) continue;
      expect(spec.gate.error).toBeUndefined();
    }
  },
  "lets a message approve nothing, and an approval count for its run only": ({ before, after, event }) => {
    if (event.type === "approval") return;
    for (const { id, run, decision } of Object.values(after.functions)) {
      const old = before.functions[id];
      expect(decision).toBe(old?.run === run ? old.decision : null);
    }
  },
  "fires a transition at most once a run, and counts runs without a gap": ({ before, after }) => {
    for (const { id, run, fired } of Object.values(after.functions)) {
      expect(new Set(fired.map(({ index }) => index)).size).toBe(fired.length);
      expect(run).toBe(after.runs[id]);
      expect(run).toBeGreaterThanOrEqual(before.runs[id] ?? 0);
    }
  },
  "lets what happens to a namesake of another role touch nothing": ({ before, event, facts }, specs) => {
    if (event.type !== "activate" && event.type !== "deactivate") return;
    const alone = specs.map((spec) => ({ ...spec, requires: [], transitions: [] }));
    const { state } = reduceStep(before, { type: event.type, function: "qa/a" }, alone, facts);
    const quiet = reduceStep(before, { type: "message" }, alone, facts).state;
    expect(state.functions["dev/a"]).toEqual(quiet.functions["dev/a"]);
  },
};

it(`the machine, over ${runs(runsOf)} random workflows: ${Object.keys(invariants).join("; ")}`, {
  timeout: 600_000,
}, () => {
  fc.assert(
    fc.property(specs, moves, (specs, moves) => {
      for (const shown of play(specs, moves)) for (const holds of Object.values(invariants)) holds(shown, specs);
    }),
    { numRuns: runs(runsOf) },
  );
});

describe("reduceStep", () => {
  it("changes nothing it was given", () => {
    fc.assert(
      fc.property(specs, moves, (specs, moves) => {
        const deep = (value: unknown): void => {
          if (typeof value !== "object" || value === null || Object.isFrozen(value)) return;
          Object.freeze(value);
          for (const inner of Object.values(value)) deep(inner);
        };
        let state = emptyState("s");
        for (const { event, artifact } of moves) {
          deep(state);
          const facts = {
            now: 1,
            artifacts: { p: { state: artifact, unchecked: 0 } },
            needles: [],
            text: null,
            seq: 1,
          };
          deep(facts);
          state = reduceStep(state, event, specs, facts).state;
        }
      }),
      { numRuns: runs(2_000) },
    );
  });

  it("ends a cycle of transitions at the round limit, with a problem in the log", async () => {
    const list = [
      specOf("a", "transitions: [{when: turn_count(0), activate: [b], deactivate: [a]}]"),
      specOf("b", "transitions: [{when: turn_count(0), activate: [a], deactivate: [b]}]"),
    ];
    const { log } = reduceStep(emptyState("s"), { type: "activate", function: "a" }, list, {
      now: 1,
      artifacts: {},
      needles: [],
      text: null,
      seq: 1,
    });
    expect(log.at(-1)).toMatchObject({ kind: "problem", problem: expect.stringContaining("step_limit") });
    expect(log.filter(({ kind }) => kind === "fired").length).toBeLessThanOrEqual(64);
  });
});

it("the engine goes the way of the reducer through the same events", { timeout: 300_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(specs, moves, async (specs, moves) => {
      const family = createFunctions({
        directory: "/nowhere",
        specs: staticSpecs(specs),
        store: memoryStore(),
        artifacts: memoryArtifacts(),
      });
      let state = emptyState("s");
      let seq = 1;
      for (const { event } of moves) {
        const open = state.pauses.some((pause) => event.type === "resolve" && pause.seq === event.seq);
        if (event.type === "resolve" && !open) continue;
        const { log, phases } = await family.engine.step("s", event);
        const facts = {
          now: Date.now(),
          artifacts: { p: { state: "missing" as const, unchecked: 0 } },
          needles: [],
          text: null,
          seq,
        };
        const own = reduceStep(state, event, specs, facts);
        if (event.type === "signal") seq++;
        state = own.state;
        expect(Object.keys(phases).length).toBe(Object.keys(own.state.functions).length);
        expect(log.map(({ kind }) => kind)).toEqual(own.log.map(({ kind }) => kind));
      }
    }),
    { numRuns: runs(400) },
  );
});
