import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { ask } from "../../../../examples/tanstack-ai/main.ts";
import { scriptedAdapter } from "./host.ts";

const turn = { name: "hashline_read", input: '{"filePath":"a.txt"}' };

it("the example: a model reads a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const { adapter, requests } = scriptedAdapter(turn);
  expect(await ask(adapter as never, "What is in a.txt?", workspace.directory)).toBe("done");
  expect(JSON.stringify(requests.at(-1))).toContain("forty-two");
});
