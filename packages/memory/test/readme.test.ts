import { checkReadmeExample, tempWorkspace } from "@toolhaft/testing";
import { it } from "vitest";

it("the README's example compiles and prints what the README says", { timeout: 300_000 }, async () => {
  await using workspace = await tempWorkspace();
  await checkReadmeExample(new URL("../README.md", import.meta.url), { cwd: workspace.directory });
});
