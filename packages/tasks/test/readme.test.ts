import { checkReadmeExample } from "@toolhaft/testing";
import { it } from "vitest";

it("the example of the README compiles, runs and prints what it says", { timeout: 240_000 }, async () => {
  await checkReadmeExample(new URL("../README.md", import.meta.url));
});
