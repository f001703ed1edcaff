import { activate, type Draft, deactivate, edit } from "./draft.ts";
import { gateHolds, holds, type Scene } from "./evaluate.ts";
import type { ArtifactFact, FunctionRecord, Phase, SessionState } from "./model.ts";
import { byPriority, type FunctionSpec, type SpecIndex } from "./specs/specs.ts";

/** Rounds of one step; a cycle of transitions ends here. */
export const mostRounds = 32;
const paused = "paused";

/** Phases, then transitions, until nothing changes. */
export function settle(draft: Draft): void {
  for (let round = 0; round < mostRounds; round++) {
    const phases = settlePhases(draft);
    const fired = fireTransitions(draft);
    if (!phases && !fired) return;
  }
  draft.log.push({
    kind: "problem",
    function: null,
    problem: `step_limit: transitions still changed something after ${mostRounds} rounds`,
  });
}

function settlePhases(draft: Draft): boolean {
  let changed = false;
  for (const id of inOrder(draft)) {
    const record = draft.functions[id];
    if (!record) continue;
    const spec = draft.index.get(id);
    const phase = nextPhase(record, sceneOf(draft, record, spec), draft.index, draft.complete.has(id));
    const hasPause = record.pausedBy.length > 0 && phase === "paused";
    const evidence = withLabel(record.evidence, hasPause);
    if (phase === record.phase && evidence === record.evidence) continue;
    changed = true;
    edit(draft, id, { phase, evidence });
    if (evidence !== record.evidence) draft.log.push({ kind: "evidence", function: id, label: paused, set: hasPause });
    if (phase === record.phase) continue;
    draft.log.push({ kind: "phase", function: id, run: record.run, from: record.phase, to: phase });
    if (phase === "complete") draft.ended[id] = draft.step;
  }
  return changed;
}

/** The phase a function has by what is known now. One whose file is gone stays as it is, but for pauses. */
export function nextPhase(
  record: FunctionRecord,
  scene: Scene | undefined,
  index: SpecIndex,
  terminated: boolean,
): Phase {
  if (record.phase === "complete" || terminated) return "complete";
  if (record.pausedBy.length > 0) return "paused";
  if (scene === undefined) return record.phase === "paused" ? "gated" : record.phase;
  if (!isGateOpen(scene, index)) return "gated";
  const until = scene.spec.continueUntil;
  return until !== undefined && holds(until, scene) ? "complete" : "active";
}

/** The gate, and every function that is required active or complete. */
function isGateOpen(scene: Scene, index: SpecIndex): boolean {
  if (!gateHolds(scene)) return false;
  return scene.spec.requires.every((name) => isMet(name, scene.spec, scene.state, index));
}

export function isMet(name: string, spec: FunctionSpec, state: SessionState, index: SpecIndex): boolean {
  const required = index.inScope(name, spec.role);
  const phase = required && state.functions[required.id]?.phase;
  return phase === "active" || phase === "complete";
}

function fireTransitions(draft: Draft): boolean {
  let fired = false;
  for (const id of inOrder(draft)) {
    const spec = draft.index.get(id);
    for (const [index, transition] of (spec?.transitions ?? []).entries()) {
      const record = draft.functions[id];
      const scene = record && sceneOf(draft, record, spec);
      if (!record || !spec || !scene || record.fired.some((mark) => mark.index === index)) continue;
      if (!holds(transition.when, scene)) continue;
      edit(draft, id, { fired: [...record.fired, { index, at: draft.facts.now }] });
      const { activate: begins, deactivate: ends } = transition;
      draft.log.push({ kind: "fired", function: id, run: record.run, index, activate: begins, deactivate: ends });
      fired = true;
      for (const name of begins) {
        const target = draft.index.inScope(name, spec.role);
        if (target) activate(draft, target, { args: [], named: {} });
        else problem(draft, id, `transitions[${index}] activates "${name}", which no file defines`);
      }
      for (const name of ends) {
        const target = draft.index.inScope(name, spec.role);
        if (target) deactivate(draft, target.id);
        else problem(draft, id, `transitions[${index}] deactivates "${name}", which no file defines`);
      }
    }
  }
  return fired;
}

function problem(draft: Draft, id: string, text: string): void {
  draft.log.push({ kind: "problem", function: id, problem: text });
}

/** Ids by priority; those without a file last. */
function inOrder(draft: Draft): string[] {
  return Object.keys(draft.functions)
    .map((id) => ({ id, priority: draft.index.get(id)?.priority ?? Number.MIN_SAFE_INTEGER }))
    .sort(byPriority)
    .map(({ id }) => id);
}

function sceneOf(draft: Draft, record: FunctionRecord, spec: FunctionSpec | undefined): Scene | undefined {
  if (spec === undefined) return undefined;
  const artifacts: Readonly<Record<string, ArtifactFact>> = draft.artifacts;
  return { record, spec, state: draft, artifacts, registry: draft.registry };
}

function withLabel(evidence: readonly string[], isSet: boolean): readonly string[] {
  if (isSet === evidence.includes(paused)) return evidence;
  return isSet ? [...evidence, paused] : evidence.filter((label) => label !== paused);
}
