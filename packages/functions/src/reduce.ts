import { builtinConditions, type ConditionRegistry } from "@toolhaft/asset-format";
import { activate, type Draft, deactivate, draftOf, edit, editAll, finish, isOpen } from "./draft.ts";
import type { FunctionEvent } from "./events.ts";
import type { LogEntry, OuterFacts, Resolution, SessionState, SignalEffect } from "./model.ts";
import { type Capture, runObservers } from "./observers.ts";
import { settle } from "./settle.ts";
import { classOf, expiryOf } from "./signal-types.ts";
import { type FunctionSpec, indexSpecs, type SpecIndex } from "./specs/specs.ts";

/** What a step does: the next state, what to log, and what to write beside it. */
export interface Step {
  state: SessionState;
  log: readonly LogEntry[];
  resolutions: readonly Resolution[];
  /** Artifacts that observers capture. */
  captures: readonly Capture[];
  /** Of a signal: what it did to each function that was there. */
  effects: readonly SignalEffect[];
  /** Of `idle`: whether some function wants to go on. */
  continue: boolean;
}

/**
 * One step of the machine. Pure: the same state, event, functions and facts give the same step, so that a log can be
 * replayed.
 *
 * @param specs All functions of the workspace.
 * @param registry Names that conditions may use.
 */
export function reduceStep(
  state: SessionState,
  event: FunctionEvent,
  specs: readonly FunctionSpec[] | SpecIndex,
  facts: OuterFacts,
  registry: ConditionRegistry = builtinConditions,
): Step {
  const index = "inScope" in specs ? specs : indexSpecs(specs);
  const draft = draftOf(state, index, facts, registry);
  resetChanged(draft);
  expire(draft);
  const before = phasesOf(draft);
  apply(draft, event);
  runObservers(draft, event);
  settle(draft);
  const wantsMore = event.type === "idle" && goOn(draft);
  const next = finish(draft);
  return {
    state: next,
    log: draft.log,
    resolutions: draft.resolutions,
    captures: draft.captures,
    effects: event.type === "signal" ? effectsOf(before, next) : [],
    continue: wantsMore,
  };
}

/** A function whose state has another shape now starts afresh. */
function resetChanged(draft: Draft): void {
  for (const record of Object.values(draft.functions)) {
    const spec = draft.index.get(record.id);
    if (!spec || spec.stateSchemaVersion === record.schemaVersion) continue;
    draft.log.push({
      kind: "reset",
      function: record.id,
      run: record.run,
      from: record.schemaVersion,
      to: spec.stateSchemaVersion,
    });
    delete draft.functions[record.id];
    draft.ended[record.id] = draft.step;
    activate(draft, spec, record.params);
  }
}

function expire(draft: Draft): void {
  for (const { seq, expiresAt } of [...draft.pauses]) {
    if (expiresAt !== null && expiresAt <= draft.facts.now) endPause(draft, seq, "expired", null);
  }
}

/** The one place where a pause ends. */
function endPause(draft: Draft, seq: number, kind: Resolution["kind"], by: string | null): void {
  draft.pauses = draft.pauses.filter((pause) => pause.seq !== seq);
  draft.resolutions.push({ of: seq, at: draft.facts.now, kind, by });
  draft.log.push({ kind: "pause_ended", seq, how: kind });
  editAll(draft, (record) => {
    if (!record.pausedBy.includes(seq)) return {};
    return { pausedBy: record.pausedBy.filter((one) => one !== seq) };
  });
}

function apply(draft: Draft, event: FunctionEvent): void {
  switch (event.type) {
    case "activate":
      activate(draft, draft.index.find(event.function), {
        args: event.args ?? [],
        named: event.named ?? {},
      });
      return;
    case "deactivate":
      deactivate(draft, draft.functions[event.function] ? event.function : draft.index.find(event.function).id);
      return;
    case "turn":
      draft.turn += 1;
      editAll(draft, (record) => (isOpen(record) ? { turns: record.turns + 1 } : {}));
      return;
    case "approval":
      editTargets(draft, event.function, () => ({ decision: event.decision }));
      return;
    case "tool":
      if (event.agent !== undefined) seenAgent(draft, event.agent);
      if (event.ok) editAll(draft, (record) => (isOpen(record) ? { tools: added(record.tools, event.name) } : {}));
      return;
    case "todos":
      draft.todos = { total: event.total, done: event.done };
      return;
    case "evidence":
      editTargets(draft, event.function, (record) => ({
        evidence:
          event.value === false
            ? record.evidence.filter((label) => label !== event.label)
            : added(record.evidence, event.label),
      }));
      return;
    case "value":
      if (event.function === undefined) draft.values[event.key] = { value: event.value, step: draft.step };
      editTargets(draft, event.function, (record) => ({ values: { ...record.values, [event.key]: event.value } }));
      return;
    case "signal":
      applySignal(draft, event);
      return;
    case "resolve":
      if (draft.pauses.some(({ seq }) => seq === event.seq)) endPause(draft, event.seq, "resolved", event.by);
      return;
    case "message":
    case "artifact":
    case "idle":
      return;
  }
}

function applySignal(draft: Draft, event: FunctionEvent & { type: "signal" }): void {
  const { seq, now } = draft.facts;
  const kind = classOf(event.signal);
  if (event.by !== undefined) seenAgent(draft, event.by);
  editAll(draft, (record) => (isOpen(record) ? { signals: added(record.signals, event.signal) } : {}));
  if (kind === "pausing") {
    draft.pauses = [
      ...draft.pauses,
      { seq, type: event.signal, expiresAt: expiryOf(event.signal, event.payload ?? null, now) },
    ];
    editAll(draft, (record) => (isOpen(record) ? { pausedBy: [...record.pausedBy, seq] } : {}));
    return;
  }
  if (kind !== "terminating") return;
  draft.latestTerminating = seq;
  for (const record of Object.values(draft.functions)) {
    if (record.phase !== "active" && record.phase !== "paused") continue;
    if (draft.index.get(record.id)?.continueUntil === undefined) continue;
    draft.complete.add(record.id);
  }
  for (const pause of [...draft.pauses]) endPause(draft, pause.seq, "superseded", event.by ?? null);
}

/** Those that `idle` should go on with; how often is bounded by `continue_max`. */
function goOn(draft: Draft): boolean {
  let any = false;
  for (const record of Object.values(draft.functions)) {
    const spec = draft.index.get(record.id);
    if (record.phase !== "active" || !spec?.continueUntil || record.continued >= spec.continueMax) continue;
    edit(draft, record.id, { continued: record.continued + 1 });
    draft.log.push({ kind: "continue", function: record.id, count: record.continued + 1, max: spec.continueMax });
    any = true;
  }
  return any;
}

function editTargets(draft: Draft, target: string | undefined, change: Parameters<typeof editAll>[1]): void {
  const id = target === undefined ? undefined : draft.index.find(target).id;
  editAll(draft, (record) => (isOpen(record) && (id === undefined || record.id === id) ? change(record) : {}));
}

function seenAgent(draft: Draft, agent: string): void {
  draft.agents = added(draft.agents, agent);
}

function added(list: readonly string[], entry: string): readonly string[] {
  return list.includes(entry) ? list : [...list, entry];
}

function phasesOf(draft: Draft): Map<string, string> {
  return new Map(Object.values(draft.functions).map(({ id, phase }) => [id, phase]));
}

function effectsOf(before: ReadonlyMap<string, string>, next: SessionState): SignalEffect[] {
  const effects: SignalEffect[] = [];
  for (const [id, phase] of before) {
    if (phase === "complete") continue;
    const now = next.functions[id]?.phase;
    if (now === "paused") effects.push({ id, effect: phase === "paused" ? "recorded" : "paused" });
    else if (now === "complete") effects.push({ id, effect: "completed" });
    else effects.push({ id, effect: phase === "paused" ? "resumed" : "recorded" });
  }
  return effects;
}
