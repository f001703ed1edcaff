import { checkReadmeExample } from "@toolhaft/testing";
import { it } from "vitest";

it("the example of the README compiles, runs, and prints what stands there", { timeout: 300_000 }, () =>
  checkReadmeExample(new URL("../README.md", import.meta.url)),
);
