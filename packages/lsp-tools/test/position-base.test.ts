import { type AnyTool, toolset } from "@toolhaft/core";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLspTools, type Target } from "../src/index.ts";
import { familyFor, type TestFamily } from "./support/family.ts";
import { typescriptProject } from "./support/projects.ts";

let workspace: TempWorkspace;
let family: TestFamily;
beforeAll(async () => {
  workspace = await tempWorkspace(typescriptProject);
  family = familyFor(workspace.directory);
});
afterAll(async () => {
  await family[Symbol.asyncDispose]();
  await workspace.remove();
});

interface Answered {
  data: { target: Target } & Record<string, unknown>;
  text: string;
}

/** A toolset that numbers from `base`, on the servers that all share. */
function based(base: 0 | 1) {
  const tools = toolset(createLspTools({ pool: family.lsp.pool, positionBase: base }));
  return async (name: string, input: object): Promise<Answered> => {
    const result = await tools.get(`lsp_${name}`)?.call(input, { directory: workspace.directory });
    if (!result?.ok) throw new Error(`lsp_${name}: ${result?.text}`);
    return result as unknown as Answered;
  };
}

describe.each([0, 1] as const)("numbered from %i", (base) => {
  test("every position that is printed leads back to its symbol", async () => {
    const call = based(base);
    const { text } = await call("find_references", { filePath: "src/shapes.ts", symbol: "scale" });
    expect(text).toContain(`${base}-based`);
    let path = "";
    let pasted = 0;
    for (const line of text.split("\n").slice(1)) {
      const spot = /^ (\d+):([\d,]+) /.exec(line);
      if (!spot) path = line;
      for (const column of spot?.[2]?.split(",") ?? []) {
        const input = { filePath: path, line: Number(spot?.[1]), character: Number(column) };
        const { data } = await call("hover", input);
        expect(data.target, line).toMatchObject({ name: "scale", snapped: false });
        pasted++;
      }
    }
    expect(pasted).toBe(5);

    const symbols = await call("document_symbols", { filePath: "src/shapes.ts" });
    let named = 0;
    for (const [, name, at, character] of symbols.text.matchAll(/^ *\w+ (\w+) (\d+):(\d+)/gm)) {
      const input = { filePath: "src/shapes.ts", line: Number(at), character: Number(character) };
      const { data } = await call("find_references", input);
      expect(data.target).toMatchObject({ name, snapped: false });
      named++;
    }
    expect(named).toBeGreaterThan(6);

    const broken = await call("diagnostics", { filePath: "src/main.ts", severity: "error" });
    const [, line, character] = /^error (\d+):(\d+) ts2322/m.exec(broken.text) ?? [];
    const there = await call("hover", { filePath: "src/main.ts", line: Number(line), character: Number(character) });
    expect(there.data.target).toMatchObject({ name: "wrong", position: { line: 3, character: 6 } });
  });

  test("ranges and spans of lines count from there, too", async () => {
    const call = based(base);
    const line = 3 + base;
    const span = { filePath: "src/main.ts", startLine: line, endLine: line };
    const tokens = await call("semantic_tokens", span);
    expect(tokens.text).toMatch(new RegExp(`^${line}: wrong `, "m"));
    const actions = await call("code_actions", { filePath: "src/main.ts", startLine: line });
    expect(actions.data.actions).not.toEqual([]);
    const whole = { startLine: base, startChar: base, endLine: 15 + base, endChar: base };
    const hints = await call("inlay_hints", { filePath: "src/main.ts", ...whole });
    expect(hints.data.hints).toEqual((await based(0)("inlay_hints", { filePath: "src/main.ts" })).data.hints);
    const chains = await call("selection_ranges", {
      filePath: "src/main.ts",
      positions: [{ line, character: 6 + base }],
    });
    expect(chains.data.chains).toMatchObject([{ position: { line: 3, character: 6 } }]);
  });
});

test("data is the same in both bases, whatever the tool", async () => {
  const [zero, one] = [based(0), based(1)];
  const tools: [string, object, object][] = [
    ["find_references", { line: 13, character: 36 }, { line: 14, character: 37 }],
    ["goto_definition", { line: 13, character: 36 }, { line: 14, character: 37 }],
    ["document_highlights", { line: 6, character: 6 }, { line: 7, character: 7 }],
    ["hover", { line: 13, character: 36 }, { line: 14, character: 37 }],
    ["incoming_calls", { line: 5, character: 17 }, { line: 6, character: 18 }],
    ["document_symbols", {}, {}],
    ["folding_ranges", {}, {}],
    ["diagnostics", {}, {}],
    ["code_lens", {}, {}],
  ];
  for (const [tool, from0, from1] of tools) {
    const a = await zero(tool, { filePath: "src/main.ts", ...from0 });
    const b = await one(tool, { filePath: "src/main.ts", ...from1 });
    const plain = ({ data }: Answered) => JSON.stringify(data).replace(/"ms":\d+/g, "");
    expect(plain(b), tool).toBe(plain(a));
  }
});

test("the schema of a toolset from 1 refuses 0, and its texts say so", () => {
  const tools = createLspTools({ positionBase: 1 }).tools as readonly AnyTool[];
  for (const tool of tools) {
    const schema = JSON.stringify(tool.inputSchema);
    expect(schema).not.toMatch(/0-based/);
  }
});
