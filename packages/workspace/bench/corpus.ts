import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Numbers in [0, 1) that are the same on every run. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const words = ["const", "return", "value", "index", "(a, b)", "=>", "{", "}", "import", "from", '"./x.ts";', "if"];
const cjk = ["常量", "返回", "値を", "索引", "（甲、乙）", "함수", "{", "}", "导入", "如果", "else", "문자열"];

/** Text of so many lines, a little over 30 bytes each, like a source file. */
export function corpus(lines: number, script: "ascii" | "cjk", seed = 1): string {
  const random = seeded(seed);
  const vocabulary = script === "ascii" ? words : cjk;
  const parts: string[] = [];
  for (let line = 0; line < lines; line++) {
    const count = 1 + Math.floor(random() * (script === "ascii" ? 11 : 6));
    const chosen = Array.from({ length: count }, () => vocabulary[Math.floor(random() * vocabulary.length)]);
    parts.push(`${"  ".repeat(Math.floor(random() * 4))}${chosen.join(" ")}\n`);
  }
  return parts.join("");
}

/** A folder for the files of a bench, removed when the process ends. */
export function benchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function corpusFile(folder: string, lines: number, script: "ascii" | "cjk"): string {
  const path = join(folder, `${script}-${lines}.txt`);
  writeFileSync(path, corpus(lines, script));
  return path;
}
