import {
  type ConditionRegistry,
  type Evaluated,
  evaluateCondition,
  type Facts,
  type FunctionCondition,
  showCondition,
} from "@toolhaft/asset-format";
import type { ArtifactFact, FunctionRecord, SessionState } from "./model.ts";
import type { FunctionSpec } from "./specs/specs.ts";

export interface Verdict {
  /** The condition as one line. */
  expr: string;
  value: boolean;
  why: string[];
}

/** What conditions of one function look at. */
export interface Scene {
  record: FunctionRecord;
  spec: FunctionSpec;
  state: SessionState;
  artifacts: Readonly<Record<string, ArtifactFact>>;
  registry: ConditionRegistry;
}

const absent: ArtifactFact = { state: "missing", unchecked: 0 };

/** Whether a condition holds, without saying why: steps ask this of each function in each round. */
export function holds({ ast }: FunctionCondition, scene: Scene): boolean {
  return ast !== undefined && evaluateCondition(ast, factsOf(scene, false), scene.registry).value;
}

/** Whether the gate is open, as far as its condition goes; a function without one has none to shut. */
export function gateHolds(scene: Scene): boolean {
  const { gate } = scene.spec;
  if (gate === undefined) return true;
  return gate.ast !== undefined && evaluateCondition(gate.ast, factsOf(scene, true), scene.registry).value;
}

/** Whether a condition holds, and why. One that was not understood never does. */
export function judge(condition: FunctionCondition, scene: Scene): Verdict {
  if (condition.ast === undefined) {
    const problem = condition.error?.message ?? "there is no condition";
    return { expr: printed(condition.source), value: false, why: [problem] };
  }
  const { value, why } = evaluateCondition(condition.ast, factsOf(scene, false), scene.registry);
  return { expr: showCondition(condition.ast), value, why: [...why] };
}

/** The gate alone; undefined when the function has none. */
export function judgeGate(scene: Scene): Verdict | undefined {
  const { gate } = scene.spec;
  if (gate === undefined) return undefined;
  if (gate.ast === undefined) return judge(gate, scene);
  const { value, why } = evaluateCondition(gate.ast, factsOf(scene, true), scene.registry);
  return { expr: showCondition(gate.ast), value, why: [...why] };
}

function factsOf(scene: Scene, inGate: boolean): Facts {
  const { record, spec, state, artifacts } = scene;
  return {
    run: record.run,
    decision: record.decision ?? undefined,
    turns: record.turns,
    todos: state.todos ?? undefined,
    requiredEvidence: spec.requiresEvidence,
    hasEvidence: (label) => record.evidence.includes(label),
    artifact: (name) => artifacts[name.normalize("NFC")] ?? absent,
    toolSucceeded: (tool) => record.tools.includes(tool),
    signalSeen: (type) => record.signals.includes(type),
    value: (key) => (Object.hasOwn(record.values, key) ? record.values[key] : undefined),
    gate(): Evaluated | undefined {
      if (inGate) return { value: false, why: ["a gate cannot refer to itself"] };
      return judgeGate(scene);
    },
  };
}

function printed(source: unknown): string {
  return typeof source === "string" ? source : (JSON.stringify(source) ?? "nothing");
}
