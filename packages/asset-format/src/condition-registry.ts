/** What conditions look at; the engine gathers it before it evaluates. */
export interface Facts {
  /** Number of the current run, for reasons. */
  readonly run: number;
  /** The newest decision of this run. */
  readonly decision: "approved" | "rejected" | undefined;
  /** Turns since activation. */
  readonly turns: number;
  /** Undefined when no todo list was seen. */
  readonly todos: { readonly total: number; readonly done: number } | undefined;
  readonly requiredEvidence: readonly string[];
  hasEvidence(label: string): boolean;
  /** `unchecked`: boxes `- [ ]` in its text. */
  artifact(name: string): { readonly state: "missing" | "empty" | "present"; readonly unchecked: number };
  toolSucceeded(tool: string): boolean;
  signalSeen(type: string): boolean;
  /** Undefined when the value was never set. */
  value(key: string): unknown;
  /** What this function's gate says; undefined when it has none. */
  gate(): Evaluated | undefined;
}

export interface Evaluated {
  readonly value: boolean;
  /** Each leaf that decided. */
  readonly why: readonly string[];
}

export interface ConditionDefinition {
  readonly name: string;
  /** Names of its arguments, all required. */
  readonly args: readonly string[];
  check?(args: readonly string[]): { message: string; expected: string } | undefined;
  evaluate(args: readonly string[], facts: Facts): { value: boolean; why: string };
}

export type ConditionRegistry = Readonly<Record<string, ConditionDefinition>>;

const wholeNumber = (args: readonly string[]) =>
  /^\d{1,9}$/.test(args[0] ?? "")
    ? undefined
    : { message: `"${args[0]}" is no whole number`, expected: "a whole number such as 3" };

const definitions: readonly ConditionDefinition[] = [
  {
    name: "gate",
    args: [],
    evaluate(_, facts) {
      const gate = facts.gate();
      if (!gate) return { value: false, why: "gate: this function has none" };
      return { value: gate.value, why: `gate: ${gate.why.join("; ")}` };
    },
  },
  {
    name: "user_approval",
    args: [],
    evaluate(_, { decision, run }) {
      if (decision === "approved") return { value: true, why: `user_approval: approved in run ${run}` };
      const why = decision === "rejected" ? `rejected in run ${run}` : `no approval in run ${run}`;
      return { value: false, why: `user_approval: ${why}` };
    },
  },
  {
    name: "artifact_exists",
    args: ["name"],
    evaluate([name = ""], facts) {
      const { state } = facts.artifact(name);
      return { value: state === "present", why: `artifact_exists(${name}): ${state}` };
    },
  },
  {
    name: "plan_todos_complete",
    args: [],
    evaluate(_, { todos }) {
      if (!todos) return { value: false, why: "plan_todos_complete: no todo list was seen" };
      return { value: todos.done >= todos.total, why: `plan_todos_complete: ${todos.done} of ${todos.total} done` };
    },
  },
  {
    name: "plan_incomplete",
    args: ["name"],
    evaluate([name = ""], facts) {
      const { unchecked } = facts.artifact(name);
      return { value: unchecked > 0, why: `plan_incomplete(${name}): ${unchecked} unchecked` };
    },
  },
  {
    name: "evidence_met",
    args: [],
    evaluate(_, facts) {
      const absent = facts.requiredEvidence.filter((label) => !facts.hasEvidence(label));
      if (absent.length === 0) return { value: true, why: `evidence_met: all ${facts.requiredEvidence.length}` };
      return { value: false, why: `evidence_met: missing ${absent.join(", ")}` };
    },
  },
  {
    name: "tool_observed",
    args: ["tool"],
    evaluate([tool = ""], facts) {
      const value = facts.toolSucceeded(tool);
      return { value, why: `tool_observed(${tool}): ${value ? "succeeded" : "not seen"} in run ${facts.run}` };
    },
  },
  {
    name: "signal_observed",
    args: ["type"],
    evaluate([type = ""], facts) {
      const value = facts.signalSeen(type);
      return { value, why: `signal_observed(${type}): ${value ? "sent" : "not sent"} in run ${facts.run}` };
    },
  },
  {
    name: "turn_count",
    args: ["turns"],
    check: wholeNumber,
    evaluate([turns = ""], facts) {
      return { value: facts.turns >= Number(turns), why: `turn_count(${turns}): ${facts.turns} of ${turns}` };
    },
  },
  {
    name: "state_eq",
    args: ["key=value"],
    check: ([arg = ""]) =>
      arg.indexOf("=") > 0 ? undefined : { message: `"${arg}" has no key=value`, expected: "key=value" },
    evaluate([arg = ""], facts) {
      const [key, wanted] = splitAtEquals(arg);
      const actual = facts.value(key);
      const text = actual === undefined ? undefined : typeof actual === "string" ? actual : JSON.stringify(actual);
      return { value: text === wanted, why: `state_eq(${key}): ${text === undefined ? "not set" : `is ${text}`}` };
    },
  },
];

/** The conditions of the format. Add to them: `{ ...builtinConditions, my_condition }`. */
export const builtinConditions: ConditionRegistry = Object.freeze(
  Object.fromEntries(definitions.map((one) => [one.name, Object.freeze(one)])),
);

/** `k=v` at the first equals sign. */
function splitAtEquals(text: string): [key: string, value: string] {
  const at = text.indexOf("=");
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
