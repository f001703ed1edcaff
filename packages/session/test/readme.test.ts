import { checkReadmeExample } from "@toolhaft/testing";
import { it } from "vitest";

it("README's example compiles and runs", () => checkReadmeExample(new URL("../README.md", import.meta.url)), 240_000);
