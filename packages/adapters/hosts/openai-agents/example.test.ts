import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { ask } from "../../../../examples/openai-agents/main.ts";
import { ScriptedModel } from "./host.ts";

const turn = { name: "hashline_read", input: '{"filePath":"a.txt"}' };

it("the example: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const model = new ScriptedModel([{ callId: "1", name: turn.name, arguments: turn.input }]);
  expect(await ask(model, "What is in a.txt?", workspace.directory)).toBe("done");
  expect(JSON.stringify(model.requests.at(-1)?.input)).toContain("forty-two");
});
