import { readFileSync } from "node:fs";
import { runExample, tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");

it("the README's example compiles, and its model reads a file", { timeout: 300_000 }, async () => {
  await using workspace = await tempWorkspace({ "README.md": "a single option\n" });
  const example = /```ts\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  const preload = new URL("../../../examples/test/fixtures/default-model.ts", import.meta.url);
  const printed = await runExample(example, new URL("./", import.meta.url), { cwd: workspace.directory, preload });
  expect(printed).toMatch(/^openai\/\S+ read .*README\.md.*a single option/);
});
