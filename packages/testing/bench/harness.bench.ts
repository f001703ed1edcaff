import { createHash } from "node:crypto";
import { defineBench } from "@toolhaft/testing";

/** The harness measured on itself: a side against an equal one reads 1, against a doubled one 0.5. */
export default defineBench(async (bench) => {
  const text = "x".repeat(4_000);
  const once = () => createHash("sha256").update(text).digest("hex");
  const twice = () => [once(), once()];
  await bench.compare({
    name: "equal work",
    ours: once,
    baseline: { name: "itself", run: once },
    target: { max: 1.15, min: 0.87 },
  });
  await bench.compare({
    name: "half the work",
    ours: once,
    baseline: { name: "twice it", run: twice },
    target: { max: 0.6, min: 0.4 },
  });
});
