import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { ask } from "../../../../examples/llamaindex/main.ts";
import { ScriptedModel } from "./host.ts";

const turn = { name: "hashline_read", input: '{"filePath":"a.txt"}' };

it("the example: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const model = new ScriptedModel();
  model.turn = { ...turn, tools: [] };
  expect(await ask(model, "What is in a.txt?", workspace.directory)).toBe("done");
  expect(String(model.answer?.result)).toContain("forty-two");
});
