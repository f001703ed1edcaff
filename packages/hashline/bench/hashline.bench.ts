import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { defineBench } from "@toolhaft/testing";
import { compareLines, findText, parseText, type TextModel, trimmedChanges, unifiedDiff } from "@toolhaft/workspace";
import { benchFolder, corpusFile } from "../../workspace/bench/corpus.ts";
import { anchoredDiff } from "../src/anchored-diff.ts";
import { annotate, showLine } from "../src/annotate.ts";
import { annotateText } from "../src/annotate-text.ts";
import { codesOf, planEdits } from "../src/edit-plan.ts";
import { createLineHasher, type LineHasher } from "../src/line-hash.ts";
import { peakOfEdit } from "./peak-memory.ts";
import { createPeers } from "./peers.ts";

const LINES = 100_000;

export default defineBench(async (bench) => {
  if (bench.flags.includes("--tokens") || bench.flags.includes("--replay")) return;
  const folder = benchFolder();
  const hasher = await createLineHasher();
  const peers = await createPeers();
  bench.note("B: readFileSync(path, 'utf8').split('\\n') of the same file, 100,000 lines.");

  for (const script of ["ascii", "cjk"] as const) {
    const path = corpusFile(folder, LINES, script);
    const B = { name: "B", run: () => readFileSync(path, "utf8").split("\n") };
    const bytes = readFileSync(path);
    const text = parseText(bytes);
    const name = (row: string) => `${row} (${script})`;

    await bench.compare({
      name: name("hash of every line over bytes"),
      ours: () => hashAll(text, hasher),
      baseline: B,
      target: { max: 1.0 },
    });
    await bench.compare({
      name: name("full read, bytes to annotated text"),
      ours: () => annotateText(parseText(readFileSync(path)), hasher),
      baseline: B,
      target: { max: 3.0 },
    });
    await bench.compare({
      name: name("200-line window at line 50,000, version included"),
      ours: () => {
        const read = readFileSync(path);
        const lines = annotate(parseText(read), hasher, { from: 50_000, to: 50_199 });
        return version(read) + lines.map(showLine).join("\n");
      },
      baseline: B,
      target: { max: 0.8 },
    });

    const edits = fiftyEdits(text, hasher);
    const batch = (): unknown => {
      const read = readFileSync(path);
      return version(read) + planEdits(parseText(read), edits, hasher).bytes.length;
    };
    await bench.compare({
      name: name("50 replacements: read, version, index, checks, new body"),
      ours: batch,
      baseline: B,
      target: { max: 2.5 },
    });
    const plan = planEdits(text, edits, hasher);
    const after = parseText(plan.bytes);
    await bench.compare({
      name: name("unified and anchored diff of them"),
      ours: () => {
        const names = { before: "f", after: "f" };
        const trimmed = trimmedChanges(text, after, plan.changes);
        return [
          unifiedDiff(text, after, plan.changes, names),
          anchoredDiff(codesOf(text, hasher), codesOf(after, hasher), trimmed, 80),
        ];
      },
      baseline: B,
      target: { max: 0.05 },
    });
    const outside = Buffer.concat([Buffer.from("inserted by somebody else\n"), bytes]);
    await bench.compare({
      name: name("remap of 50 anchors after one outside insert at line 1"),
      ours: () => {
        const map = compareLines(text, parseText(outside));
        return edits.map(({ pos }) => map.map(Number.parseInt(pos, 10)));
      },
      baseline: B,
      target: { max: 2.0 },
    });
    if (script === "cjk") continue;

    await bench.compare({
      name: "full read beside strings: decode, split, XXH32 of each string, join",
      ours: () => annotateText(parseText(readFileSync(path)), hasher),
      baseline: { name: "by strings", run: () => peers.annotateByStrings(readFileSync(path)) },
      target: { max: 1 / 2.5 },
    });
    await bench.compare({
      name: "full read beside SHA-256 of each line, base-64 codes",
      ours: () => annotateText(parseText(readFileSync(path)), hasher),
      baseline: { name: "by SHA-256", run: () => peers.annotateBySha(readFileSync(path)) },
      target: { max: 1 / 5 },
    });
    const plain = edits.map(({ pos, lines }) => ({ line: Number.parseInt(pos, 10), lines }));
    await bench.compare({
      name: "50 replacements beside a line array copied per edit",
      ours: batch,
      baseline: { name: "array copies", run: () => peers.editByCopies(readFileSync(path), plain) },
      target: { max: 1 / 5 },
    });
    const peak = await peakOfEdit(path);
    if (peak === undefined)
      bench.skip("peak memory of the 50-edit call", "the system does not tell a process its peak");
    else
      bench.figure({
        name: "peak memory of the 50-edit call over idle",
        ours: peak / 1_048_576,
        baseline: { name: "file size", value: bytes.length / 1_048_576 },
        unit: "MiB",
        target: { max: 4 },
      });
  }

  const small = corpusFile(folder, 10_000, "ascii");
  const file = parseText(readFileSync(small));
  const needle = `${file.text(5_000)} not there\n${file.text(5_001)}\n${file.text(5_002)}\n`;
  await bench.compare({
    name: "edit_file: text not present, 10,000 lines",
    ours: () => findText(file, needle),
    baseline: { name: "B of that file", run: () => readFileSync(small, "utf8").split("\n") },
    target: { max: 20 },
  });
});

function version(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

function hashAll(text: TextModel, hasher: LineHasher): number {
  let letters = 0;
  for (let line = 1; line <= text.lineCount; line++) {
    const { start, end } = text.line(line);
    letters += hasher.code(text.bytes, start, end, 3).length;
  }
  return letters;
}

function fiftyEdits(text: TextModel, hasher: LineHasher): { pos: string; lines: string[] }[] {
  return Array.from({ length: 50 }, (_, index) => {
    const line = 7 + index * 1_999;
    const { start, end } = text.line(line);
    return { pos: `${line}#${hasher.code(text.bytes, start, end, 3)}`, lines: [`changed ${index}`] };
  });
}
