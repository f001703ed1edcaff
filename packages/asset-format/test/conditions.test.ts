import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  builtinConditions,
  type ConditionAst,
  evaluateCondition,
  type Facts,
  isConditionError,
  parseCondition,
  printCondition,
  showCondition,
} from "../src/index.ts";

const facts = (more: Partial<Facts> = {}): Facts => ({
  run: 1,
  decision: undefined,
  turns: 0,
  todos: undefined,
  requiredEvidence: [],
  hasEvidence: () => false,
  artifact: () => ({ state: "missing", unchecked: 0 }),
  toolSucceeded: () => false,
  signalSeen: () => false,
  value: () => undefined,
  gate: () => undefined,
  ...more,
});
const ast = (source: unknown): ConditionAst => {
  const parsed = parseCondition(source);
  if (isConditionError(parsed)) throw new Error(parsed.message);
  return parsed;
};
const holds = (source: unknown, more: Partial<Facts> = {}) => evaluateCondition(ast(source), facts(more));

describe("parsing", () => {
  it.each([
    ["gate", []],
    ["user_approval()", []],
    [" turn_count( 3 ) ", ["3"]],
    ['state_eq("mode=a=b")', ["mode=a=b"]],
    ['state_eq("mode=x)")', ["mode=x)"]],
    ['artifact_exists("a, \\"b\\" \\\\")', ['a, "b" \\']],
    ["tool_observed(mcp__a__b)", ["mcp__a__b"]],
  ])("%s", (source, args) => expect(ast(source)).toMatchObject({ kind: "call", args }));
  it.each([
    ["artifact_exists(", "condition_syntax", 16],
    ["turn_count(abc)", "condition_syntax", 11],
    ["turn_count()", "condition_syntax", 0],
    ["turn_count(1, 2)", "condition_syntax", 14],
    ["user_approval(x)", "condition_syntax", 14],
    ['artifact_exists("a', "condition_syntax", 16],
    ["gate gate", "condition_syntax", 5],
    ["", "condition_syntax", 0],
    ["artifact_exists(a", "condition_syntax", 17],
    ["state_eq(a)", "condition_syntax", 9],
    ["user_aproval", "unknown_condition", 0],
    ["constructor", "unknown_condition", 0],
    ["__proto__", "unknown_condition", 0],
  ])("%s is %s at %i", (source, rule, offset) =>
    expect(parseCondition(source)).toMatchObject({ kind: "error", rule, offset }),
  );
  it.each([
    [{ all: [] }],
    [{ all: "gate" }],
    [{ all: ["gate"], any: ["gate"] }],
    [true],
    [null],
    [3],
    [{}],
    [{ none: [] }],
    [["gate"]],
  ])("%j is no condition", (source) =>
    expect(parseCondition(source)).toMatchObject({ kind: "error", rule: "condition_syntax" }),
  );
  it("names the place inside a map", () => {
    expect(parseCondition({ all: ["gate", { not: "nix" }] })).toMatchObject({ path: ["all", 1, "not"] });
  });
  it("hosts add names", () => {
    const mine = { name: "mine", args: [], evaluate: () => ({ value: true, why: "mine" }) };
    const registry = { ...builtinConditions, mine };
    const parsed = parseCondition("mine", registry);
    expect(parsed).toEqual({ kind: "call", name: "mine", args: [] });
    expect(!isConditionError(parsed) && evaluateCondition(parsed, facts(), registry).value).toBe(true);
    // The one that does not know the name stays shut, also under not.
    const closed: ConditionAst = { kind: "not", of: { kind: "call", name: "mine", args: [] } };
    expect(evaluateCondition(closed, facts()).value).toBe(false);
  });
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
  const call = fc.oneof(
    fc
      .constantFrom("gate", "user_approval", "evidence_met")
      .map((name): ConditionAst => ({ kind: "call", name, args: [] })),
    fc
      .tuple(fc.constantFrom("artifact_exists", "tool_observed", "signal_observed"), text)
      .map(([name, arg]): ConditionAst => ({ kind: "call", name, args: [arg] })),
    fc
      .tuple(text, text)
      .map(([key, value]): ConditionAst => ({ kind: "call", name: "state_eq", args: [`k${key}=${value}`] })),
  );
  const { tree } = fc.letrec<{ tree: ConditionAst }>((tie) => ({
    tree: fc.oneof(
      { maxDepth: 4 },
      call,
      tie("tree").map((of): ConditionAst => ({ kind: "not", of })),
      fc
        .tuple(fc.constantFrom("all" as const, "any" as const), fc.array(tie("tree"), { minLength: 1, maxLength: 3 }))
        .map(([kind, of]): ConditionAst => ({ kind, of })),
    ),
  }));
  it(`printing is the inverse of parsing (${runs(10_000)} trees)`, () => {
    fc.assert(
      fc.property(tree, (one) => {
        expect(parseCondition(printCondition(one))).toEqual(one);
        expect(showCondition(one)).not.toBe("");
      }),
      { numRuns: runs(10_000) },
    );
  });
});

describe("evaluation", () => {
  it.each<[unknown, Partial<Facts>, Partial<Facts>]>([
    ["user_approval", { decision: "approved" }, { decision: "rejected" }],
    [
      "artifact_exists(p)",
      { artifact: () => ({ state: "present", unchecked: 0 }) },
      { artifact: () => ({ state: "empty", unchecked: 0 }) },
    ],
    ["plan_todos_complete", { todos: { total: 2, done: 2 } }, { todos: { total: 2, done: 1 } }],
    [
      "plan_incomplete(p)",
      { artifact: () => ({ state: "present", unchecked: 1 }) },
      { artifact: () => ({ state: "present", unchecked: 0 }) },
    ],
    ["evidence_met", { requiredEvidence: ["a"], hasEvidence: () => true }, { requiredEvidence: ["a"] }],
    ["tool_observed(t)", { toolSucceeded: (tool) => tool === "t" }, {}],
    ["signal_observed(answer)", { signalSeen: (type) => type === "answer" }, {}],
    ["turn_count(2)", { turns: 2 }, { turns: 1 }],
    ['state_eq("mode=a=b")', { value: (key) => (key === "mode" ? "a=b" : undefined) }, { value: () => "a" }],
    ["state_eq(n=3)", { value: () => 3 }, { value: () => 4 }],
    ["gate", { gate: () => ({ value: true, why: ["yes"] }) }, { gate: () => ({ value: false, why: ["no"] }) }],
  ])("%s both ways, with its reason", (source, yes, no) => {
    const name = String(source).split("(")[0];
    expect(holds(source, yes)).toEqual({ value: true, why: [expect.stringContaining(String(name))] });
    expect(holds(source, no)).toEqual({ value: false, why: [expect.stringContaining(String(name))] });
    expect(holds({ not: source }, yes).value).toBe(false);
  });
  it("names the leaves that decided and no other", () => {
    const source = { all: ["turn_count(1)", "user_approval", { any: ["turn_count(5)", "turn_count(0)"] }] };
    expect(holds(source, { turns: 1 })).toEqual({ value: false, why: ["user_approval: no approval in run 1"] });
    expect(holds(source, { turns: 1, decision: "approved" }).why).toEqual([
      "turn_count(1): 1 of 1",
      "user_approval: approved in run 1",
      "turn_count(0): 1 of 0",
    ]);
  });
  it("no todo list and no gate are false", () => {
    expect(holds("plan_todos_complete").value).toBe(false);
    expect(holds("gate").value).toBe(false);
    expect(holds("evidence_met").value).toBe(true);
  });
});
