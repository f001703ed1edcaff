import { checkReadmeExample } from "@toolhaft/testing";
import { it } from "vitest";

it(
  "the README's example compiles and prints what the README says",
  () => checkReadmeExample(new URL("../README.md", import.meta.url)),
  300_000,
);
