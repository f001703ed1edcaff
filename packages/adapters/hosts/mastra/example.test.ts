import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { ask } from "../../../../examples/mastra/main.ts";
import { scriptedV2 } from "../scripted-v2.ts";

const turn = { name: "hashline_read", input: '{"filePath":"a.txt"}' };

it("the example: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const { model, prompts } = scriptedV2(turn);
  expect(await ask(model as never, "What is in a.txt?", workspace.directory)).toContain("done");
  expect(JSON.stringify(prompts)).toContain("forty-two");
});
