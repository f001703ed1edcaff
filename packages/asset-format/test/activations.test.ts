import { expect, it } from "vitest";
import { fillParams, parseActivations, parseFunction } from "../src/index.ts";

it("activations stand at the start of a line", () => {
  const { activations, rest } = parseActivations('|plan|\n|go:a, b| now\n|dev/do k=v q="x y"|\ntext |no|\n');
  expect(activations).toEqual([
    { name: "plan", args: [], named: {} },
    { name: "go", args: ["a", "b"], named: {} },
    { name: "dev/do", args: [], named: { k: "v", q: "x y" } },
  ]);
  expect(rest).toBe("\nnow\n\ntext |no|\n");
});
it("a table is none", () => {
  const table = "| a | b |\n|---|---|\n|a|b|\n";
  expect(parseActivations(table)).toEqual({ activations: [], rest: table });
});
it("params are filled by name, by position, by default; the rest stays", () => {
  const { value } = parseFunction("---\nparams: {a: 1, b: null, c: null}\n---\n{{a}} {{ b }} {{c}} {{d}}", "f.md");
  if (!value) throw new Error("broken");
  expect(fillParams(value, { name: "f", args: [], named: { b: "$&" } })).toBe("1 $& {{c}} {{d}}");
  expect(fillParams(value, { name: "f", args: ["x", "y"], named: {} })).toBe("x y {{c}} {{d}}");
});
