import { tempWorkspace } from "@toolhaft/testing";
import { genkit } from "genkit";
import { expect, it } from "vitest";
import { ask } from "../../../../examples/genkit/main.ts";
import { scriptedModel } from "./host.ts";

const turn = { name: "hashline_read", input: '{"filePath":"a.txt"}' };

it("the example: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const ai = genkit({});
  const { model, requests } = scriptedModel(ai as never, turn);
  expect(await ask(ai, model, "What is in a.txt?", workspace.directory)).toBe("done");
  expect(JSON.stringify(requests.at(-1))).toContain("forty-two");
});
