import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineBench } from "@toolhaft/testing";
import { createTwoFilesPatch } from "diff";
import { unifiedDiff } from "../src/diff.ts";
import { spliceLines } from "../src/splice.ts";
import { parseText } from "../src/text-model.ts";
import { benchFolder, corpusFile } from "./corpus.ts";

export default defineBench(async (bench) => {
  const folder = benchFolder();
  bench.note("B: readFileSync(path, 'utf8').split('\\n') of the same file, 100,000 lines.");
  for (const script of ["ascii", "cjk"] as const) {
    const path = corpusFile(folder, 100_000, script);
    const bytes = readFileSync(path);
    const B = { name: "B", run: () => readFileSync(path, "utf8").split("\n") };
    await bench.compare({
      name: `line index of the bytes (${script})`,
      ours: () => parseText(bytes),
      baseline: B,
      target: { max: 0.3 },
    });
    await bench.compare({
      name: `version of the bytes (${script})`,
      ours: () => createHash("sha256").update(bytes).digest("hex"),
      baseline: B,
      target: { max: 0.3 },
    });
    if (script === "cjk") continue;

    const before = parseText(bytes);
    const { bytes: written, changes } = spliceLines(before, [{ at: 50_000, remove: 1, insert: ["changed"] }]);
    const after = parseText(written);
    const [old, now] = [bytes.toString("utf8"), Buffer.from(written).toString("utf8")];
    await bench.compare({
      name: "diff of one edit from its list, beside comparing both texts",
      ours: () => unifiedDiff(before, after, changes, { before: "f", after: "f" }),
      baseline: { name: "jsdiff createTwoFilesPatch", run: () => createTwoFilesPatch("f", "f", old, now) },
      target: { max: 1 / 100 },
      rounds: 5,
    });
  }
});
