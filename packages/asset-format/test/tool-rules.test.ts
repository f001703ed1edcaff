import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchesRule, parseToolRules, relateRules, type ToolRule } from "../src/index.ts";

const rule = (text: string): ToolRule => {
  const { rules, problems } = parseToolRules([text]);
  const [first] = rules;
  if (!first) throw new Error(problems[0]?.message);
  return first;
};
const relate = (a: string, b: string) => relateRules(rule(a), rule(b));

describe("parsing", () => {
  it("a string and a list give equal rules", () => {
    const list = ["Bash(git push:*)", "Read", "mcp__gh__list", "Write(a b, c)"];
    expect(parseToolRules(list.join(" ")).rules).toEqual(parseToolRules(list).rules);
    expect(parseToolRules(list.join(", ")).rules).toEqual(parseToolRules(list).rules);
  });
  it.each(["Bash(a", "(a)", "a b)", `Bash(${"x".repeat(200)})`, `Bash(${"*a".repeat(21)})`, 3, null, { a: 1 }])(
    "%j is a problem",
    (text) => expect(parseToolRules([text]).problems).toMatchObject([{ rule: "tool_rule_syntax", path: [0] }]),
  );
  it("nothing is no rule", () => expect(parseToolRules(undefined)).toEqual({ rules: [], problems: [] }));
});

describe("relations", () => {
  it.each([
    ["Bash", "bash", "equal"],
    ["Bash", "Bash(*)", "equal"],
    ["Bash", "Bash(git push:*)", "covers"],
    ["Bash(git push:*)", "Bash(git push)", "covers"],
    ["Bash(git push)", "Bash(git push:*)", "covered"],
    ["Bash(git push:*)", "Bash(git pushx)", "disjoint"],
    ["Bash(git *)", "Bash(* push)", "overlaps"],
    ["Read(src/*)", "Read(src/a/**)", "disjoint"],
    ["Read(src/**)", "Read(src/a/*)", "covers"],
    ["Bash(a*b)", "Bash(a/b)", "covers"],
    ["Read(a*b)", "Read(a/b)", "disjoint"],
    ["Read(A)", "Read(a)", "disjoint"],
    ["mcp__gh", "mcp__gh__list", "covers"],
    ["mcp__gh", "mcp__ghx__list", "disjoint"],
    ["mcp__*", "mcp__gh__list", "covers"],
    ["Read", "Write", "disjoint"],
  ])("%s and %s: %s", (a, b, relation) => expect(relate(a, b).relation).toBe(relation));
  it("the witness is a call that both match", () => {
    expect(relate("Bash(git push:*)", "Bash")).toEqual({ relation: "covered", witness: "Bash(git push)" });
    expect(relate("Read", "Read").witness).toBe("Read");
    expect(relate("Read", "Write").witness).toBeUndefined();
  });
});

const spec = fc
  .array(fc.constantFrom("a", "b", "/", "*", "**", " "), { minLength: 1, maxLength: 6 })
  .map((parts) => parts.join("").replace(/\*{3,}/g, "**"));
const anyRule = fc
  .tuple(fc.constantFrom("Bash", "Read", "mcp__s", "mcp__s__t"), fc.option(spec), fc.boolean())
  .map(([tool, text, prefix]) => rule(text === null ? tool : `${tool}(${text}${prefix ? ":*" : ""})`));

/** Every call over a small alphabet up to five letters, which is long enough to tell these patterns apart mostly. */
const words = (() => {
  const found = [""];
  for (let at = 0; at < found.length; at++) {
    const word = found[at] ?? "";
    if (word.length < 5) for (const letter of ["a", "b", "/", " "]) found.push(word + letter);
  }
  return found;
})();
const names = ["bash", "read", "mcp__s", "mcp__s__t", "mcp__s__u"];

/** Written apart from the code under test: a regular expression made from the rule's text. */
function oracle({ text }: ToolRule): (tool: string, call: string) => boolean {
  const [, name = "", inner] = /^(\w+)(?:\(([\s\S]*)\))?$/.exec(text) ?? [];
  const path = name === "Read";
  const glob = (part: string) =>
    part.replace(/\*+|[^*]/g, (piece) =>
      piece.startsWith("*") ? (path && piece.length === 1 ? "[^/]*" : "[^]*") : piece.replace(/[^a-z ]/g, "\\$&"),
    );
  const prefix = inner?.endsWith(":*") && inner.length > 2 ? inner.slice(0, -2) : undefined;
  const body =
    inner === undefined || inner === "*" || inner === "**"
      ? "[^]*"
      : prefix === undefined
        ? glob(inner)
        : `${glob(prefix)}(?: [^]*)?`;
  const matcher = new RegExp(`^(?:${body})$`);
  const wanted = name.toLowerCase();
  return (tool, call) =>
    (tool === wanted || (wanted === "mcp__s" && tool.startsWith("mcp__s__"))) && matcher.test(call);
}

it(`relations equal brute force on ${runs(10_000)} random pairs, and every witness matches both`, () => {
  fc.assert(
    fc.property(anyRule, anyRule, (a, b) => {
      const { relation, witness } = relateRules(a, b);
      const [inA, inB] = [oracle(a), oracle(b)];
      let [both, onlyA, onlyB] = [false, false, false];
      for (const name of names) {
        for (const word of words) {
          const [left, right] = [inA(name, word), inB(name, word)];
          both ||= left && right;
          onlyA ||= left && !right;
          onlyB ||= right && !left;
        }
      }
      if (both) expect(relation).not.toBe("disjoint");
      if (onlyA) expect(["covers", "overlaps", "disjoint"]).toContain(relation);
      if (onlyB) expect(["covered", "overlaps", "disjoint"]).toContain(relation);
      expect(witness === undefined).toBe(relation === "disjoint");
      if (witness !== undefined) {
        const [, tool = "", call = ""] = /^([^(]+)(?:\(([\s\S]*)\))?$/.exec(witness) ?? [];
        expect(inA(tool.toLowerCase(), call) && inB(tool.toLowerCase(), call), witness).toBe(true);
        expect(matchesRule(a, tool, call) && matchesRule(b, tool, call)).toBe(true);
      }
      const back = relateRules(b, a).relation;
      const mirrored = {
        covers: "covered",
        covered: "covers",
        equal: "equal",
        overlaps: "overlaps",
        disjoint: "disjoint",
      };
      expect(back).toBe(mirrored[relation]);
      expect(relateRules(a, a).relation).toBe("equal");
      const small = a.text.length <= 10 && b.text.length <= 10;
      if (small && relation === "equal") expect(onlyA || onlyB).toBe(false);
    }),
    { numRuns: runs(10_000) },
  );
}, 600_000);
