import type { ConditionRegistry } from "@toolhaft/asset-format";
import type {
  ArtifactFact,
  FunctionRecord,
  LogEntry,
  OpenPause,
  OuterFacts,
  Resolution,
  SessionState,
} from "./model.ts";
import type { Capture } from "./observers.ts";
import type { FunctionSpec, SpecIndex } from "./specs/specs.ts";

/** A state under change, within one step; it can be read as one. Its records are replaced and never written into. */
export interface Draft extends SessionState {
  readonly session: string;
  readonly step: number;
  turn: number;
  todos: SessionState["todos"];
  agents: readonly string[];
  values: Record<string, { value: unknown; step: number }>;
  runs: Record<string, number>;
  ended: Record<string, number>;
  pauses: readonly OpenPause[];
  latestTerminating: number | null;
  functions: Record<string, FunctionRecord>;
  artifacts: Record<string, ArtifactFact>;
  /** Functions that a terminating signal completes. */
  readonly complete: Set<string>;
  /** Functions that were activated in this step. */
  readonly fresh: Set<string>;
  readonly log: LogEntry[];
  readonly resolutions: Resolution[];
  readonly captures: Capture[];
  readonly index: SpecIndex;
  readonly facts: OuterFacts;
  readonly registry: ConditionRegistry;
}

export function draftOf(state: SessionState, index: SpecIndex, facts: OuterFacts, registry: ConditionRegistry): Draft {
  const { session, turn, todos, agents, values, runs, ended, pauses, latestTerminating, functions } = state;
  return {
    session,
    step: state.step + 1,
    turn,
    todos,
    agents,
    values: { ...values },
    runs: { ...runs },
    ended: { ...ended },
    pauses,
    latestTerminating,
    functions: { ...functions },
    artifacts: { ...facts.artifacts },
    complete: new Set(),
    fresh: new Set(),
    log: [],
    resolutions: [],
    captures: [],
    index,
    facts,
    registry,
  };
}

export function finish(draft: Draft): SessionState {
  const { session, step, turn, todos, agents, values, runs, ended, pauses, latestTerminating, functions } = draft;
  return { session, step, turn, todos, agents, values, runs, ended, pauses, latestTerminating, functions };
}

/** Whether anything but `activate` and `deactivate` can still change a function. */
export function isOpen(record: FunctionRecord): boolean {
  return record.phase !== "complete";
}

export function edit(draft: Draft, id: string, change: Partial<FunctionRecord>): void {
  const record = draft.functions[id];
  if (record) draft.functions[id] = { ...record, ...change };
}

export function editAll(draft: Draft, change: (record: FunctionRecord) => Partial<FunctionRecord>): void {
  for (const record of Object.values(draft.functions)) {
    const changed = change(record);
    // A record that stays the same object is not written again.
    const differs = Object.entries(changed).some(([key, value]) => Reflect.get(record, key) !== value);
    if (differs) edit(draft, record.id, changed);
  }
}

/** A fresh run, unless one is under way. Gives whether it began. */
export function activate(draft: Draft, spec: FunctionSpec, params: FunctionRecord["params"]): boolean {
  const old = draft.functions[spec.id];
  if (old && isOpen(old)) return false;
  const run = (draft.runs[spec.id] ?? 0) + 1;
  const since = draft.ended[spec.id] ?? -1;
  // What was set before the first run, or since the last one ended, is there from the beginning.
  const values = Object.entries(draft.values).filter(([, { step }]) => step > since);
  draft.runs[spec.id] = run;
  draft.functions[spec.id] = {
    id: spec.id,
    name: spec.name,
    role: spec.role,
    // Until the gate is read it is shut.
    phase: "gated",
    run,
    schemaVersion: spec.stateSchemaVersion,
    activatedAt: draft.facts.now,
    turns: 0,
    evidence: [],
    values: Object.fromEntries(values.map(([key, { value }]) => [key, value])),
    pausedBy: [],
    decision: null,
    tools: [],
    signals: [],
    fired: [],
    continued: 0,
    params,
  };
  draft.fresh.add(spec.id);
  draft.log.push({ kind: "phase", function: spec.id, run, from: old ? "complete" : "none", to: "gated" });
  return true;
}

/** Gives whether there was anything to end. */
export function deactivate(draft: Draft, id: string): boolean {
  const record = draft.functions[id];
  if (!record) return false;
  delete draft.functions[id];
  draft.fresh.delete(id);
  draft.complete.delete(id);
  draft.ended[id] = draft.step;
  draft.log.push({ kind: "phase", function: id, run: record.run, from: record.phase, to: "none" });
  draft.log.push({ kind: "deactivated", function: id, run: record.run });
  return true;
}
