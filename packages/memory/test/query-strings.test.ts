import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { it } from "vitest";
import { expectEveryQueryAnswered } from "./answered.ts";

// In a file of its own: the other half of the random queries runs beside it.
it(
  `no string of any code units makes an error, and it finds a memory of that title (${runs(50_000)} queries)`,
  {
    timeout: 600_000,
  },
  () => expectEveryQueryAnswered(fc.string({ unit: "binary", minLength: 1, maxLength: 60 }), 50_000),
);
