import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext, type ToolContext } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { parseText } from "@toolhaft/workspace";
import { countTokens, decode } from "gpt-tokenizer/encoding/o200k_base";
import { codeOf } from "../src/anchor.ts";
import { codesOf } from "../src/edit-plan.ts";
import { createHashline, type Hashline } from "../src/hashline.ts";
import { createLineHasher } from "../src/line-hash.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const MOST_LINES = 12_000;

/** Files of at most 2,000 lines of this repository's sources. */
function sources(): readonly string[] {
  const names = execFileSync("git", ["ls-files", "packages/*/src/*.ts", "packages/*/src/**/*.ts"], {
    cwd: root,
    encoding: "utf8",
  }).split("\n");
  const texts: string[] = [];
  let lines = 0;
  for (const name of names) {
    if (name === "" || lines > MOST_LINES) continue;
    const text = readFileSync(join(root, name), "utf8");
    lines += text.split("\n").length;
    texts.push(text);
  }
  return texts;
}

export default defineBench(async (bench) => {
  if (!bench.flags.includes("--tokens")) return;
  const texts = sources();
  const hasher = await createLineHasher();
  const dictionary = oneTokenWords();
  const alphabet = "abcdefghijklmnop";
  const sha = (line: string) => createHash("sha256").update(line).digest();
  const prefixes: Readonly<Record<string, (number: number, code: (width: number) => string, line: string) => string>> =
    {
      "N<tab>": (n) => `${n}\t`,
      "N|": (n) => `${n}|`,
      "N#aa| (ours)": (n, code) => `${n}#${code(2)}|`,
      "N#aaa|": (n, code) => `${n}#${code(3)}|`,
      "N#000|": (n, _, line) => `${n}#${String(sha(line).readUInt16BE() % 1_000).padStart(3, "0")}|`,
      "N:ff|": (n, _, line) => `${n}:${sha(line).toString("hex", 0, 1)}|`,
      "N#XX| of 16 letters": (n, _, line) =>
        `${n}#${[...sha(line).subarray(0, 2)]
          .map((one) => alphabet[one & 15])
          .join("")
          .toUpperCase()}|`,
      "N#base-64, 2 signs|": (n, _, line) => `${n}#${sha(line).toString("base64").slice(0, 2)}|`,
      "N#base-64, 3 signs|": (n, _, line) => `${n}#${sha(line).toString("base64").slice(0, 3)}|`,
      "N#base-64, 4 signs|": (n, _, line) => `${n}#${sha(line).toString("base64").slice(0, 4)}|`,
      "N#word| of one token": (n, _, line) => `${n}#${dictionary[sha(line).readUInt32BE() % dictionary.length]}|`,
    };

  let lines = 0;
  let raw = 0;
  const totals = new Map<string, number>();
  for (const text of texts) {
    const file = parseText(Buffer.from(text));
    const codes = (width: number) => ({ ...codesOf(file, hasher), width });
    const contents = Array.from({ length: file.lineCount }, (_, index) => file.text(index + 1));
    lines += contents.length;
    raw += countTokens(contents.join("\n"));
    for (const [name, prefix] of Object.entries(prefixes)) {
      const shown = contents.map(
        (line, index) => prefix(index + 1, (width) => codeOf(codes(width), index + 1), line) + line,
      );
      totals.set(name, (totals.get(name) ?? 0) + countTokens(shown.join("\n")));
    }
  }
  const added = (name: string) => ((totals.get(name) ?? 0) - raw) / lines;
  bench.table(
    `tokens a line (o200k), ${lines} lines of this repository`,
    ["form", "tokens added a line"],
    [
      ["raw", `${(raw / lines).toFixed(2)} in all`],
      ...Object.keys(prefixes).map((name) => [name, added(name).toFixed(2)]),
    ],
  );
  bench.figure({
    name: "tokens added a line by two letters",
    ours: added("N#aa| (ours)"),
    baseline: { name: "one token", value: 1 },
    unit: "tokens",
    target: { max: 4.1 },
  });
  const digits = sha("version").toString("hex");
  bench.table(
    "tokens of a version",
    ["digits", "tokens"],
    [
      [12, countTokens(digits.slice(0, 12))],
      [64, countTokens(digits)],
    ],
  );
  bench.table(
    "tokens of a call and its reply, one file of 160 lines",
    ["change", "hashline_edit", "edit_file", "apply_patch", "whole file"],
    await callTokens(texts),
  );
});

/** Words that the tokenizer takes as one token behind `#`. */
function oneTokenWords(): readonly string[] {
  const words: string[] = [];
  for (let id = 0; id < 60_000; id++) {
    const word = decode([id]);
    if (/^[a-z]{2,4}$/.test(word)) words.push(word);
  }
  return words;
}

interface Change {
  readonly name: string;
  readonly at: number;
  readonly remove: number;
  readonly insert: readonly string[];
  /** The removed lines go behind this line. */
  readonly moveTo?: number;
}

const fresh = (count: number) =>
  Array.from({ length: count }, (_, index) => `  const fresh${index} = compute(${index});`);

const changes: readonly Change[] = [
  { name: "replace 1 line", at: 80, remove: 1, insert: fresh(1) },
  { name: "replace 5 lines", at: 80, remove: 5, insert: fresh(5) },
  { name: "insert 3 lines", at: 80, remove: 0, insert: fresh(3) },
  { name: "delete 5 lines", at: 80, remove: 5, insert: [] },
  { name: "move 10 lines", at: 80, remove: 10, insert: [], moveTo: 20 },
];

async function callTokens(texts: readonly string[]): Promise<(string | number)[][]> {
  const long = texts.flatMap((text) => text.split("\n")).filter((line) => line.trim() !== "");
  const lines = long.slice(0, 160).map((line, index) => `${line} // ${index}`);
  const directory = mkdtempSync(join(tmpdir(), "hashline-tokens-"));
  const hashline = createHashline();
  const context = createContext({ directory });
  const rows: (string | number)[][] = [];
  try {
    for (const change of changes) {
      const row: (string | number)[] = [change.name];
      for (const calls of [anchored, replaced, patched]) {
        writeFileSync(join(directory, "f.ts"), `${lines.join("\n")}\n`);
        row.push(await calls(hashline, context, lines, change));
      }
      row.push(countTokens(JSON.stringify({ path: "f.ts", content: `${lines.join("\n")}\n` })) + 10);
      rows.push(row);
    }
  } finally {
    await hashline.close();
    rmSync(directory, { recursive: true, force: true });
  }
  return rows;
}

async function tokensOf(hashline: Hashline, context: ToolContext, name: string, input: unknown): Promise<number> {
  const result = await hashline.tools.find((tool) => tool.name === name)?.call(input, context);
  if (!result?.ok) throw new Error(result?.text ?? `no tool ${name}`);
  return countTokens(JSON.stringify(input)) + countTokens(result.text);
}

async function anchored(
  hashline: Hashline,
  context: ToolContext,
  _: readonly string[],
  change: Change,
): Promise<number> {
  const read = await hashline.tools[0]?.call({ filePath: "f.ts" }, context);
  const anchors = [...(read?.text ?? "").matchAll(/^(\d+#[a-z]+)\|/gm)].map((match) => match[1] ?? "");
  const version = /version: (\w+)/.exec(read?.text ?? "")?.[1] ?? "";
  const { at, remove, insert, moveTo } = change;
  const range = { pos: anchors[at - 1], ...(remove > 1 ? { end: anchors[at + remove - 2] } : {}) };
  const edits =
    moveTo !== undefined
      ? [
          { op: "append", pos: anchors[moveTo - 1], from: `${range.pos}..${range.end}` },
          { ...range, lines: [] },
        ]
      : remove === 0
        ? [{ op: "append", pos: anchors[at - 1], lines: insert }]
        : [{ ...range, lines: insert }];
  return tokensOf(hashline, context, "hashline_edit", { files: [{ filePath: "f.ts", version, edits }] });
}

async function replaced(
  hashline: Hashline,
  context: ToolContext,
  lines: readonly string[],
  change: Change,
): Promise<number> {
  const { at, remove, insert, moveTo } = change;
  const call = (old: readonly string[], now: readonly string[]) =>
    tokensOf(hashline, context, "edit_file", {
      path: "f.ts",
      old_content: `${old.join("\n")}\n`,
      new_content: now.map((line) => `${line}\n`).join(""),
    });
  const block = lines.slice(at - 1, at - 1 + Math.max(1, remove));
  if (moveTo !== undefined) {
    const anchor = lines.slice(moveTo - 1, moveTo);
    return (await call(block, [])) + (await call(anchor, [...anchor, ...block]));
  }
  return call(block, remove === 0 ? [...block, ...insert] : insert);
}

async function patched(
  hashline: Hashline,
  context: ToolContext,
  lines: readonly string[],
  change: Change,
): Promise<number> {
  const { at, remove, insert, moveTo } = change;
  const context3 = (from: number, to: number) => lines.slice(from - 1, to).map((line) => ` ${line}`);
  const block = lines.slice(at - 1, at - 1 + remove);
  const removal = [
    "@@",
    ...context3(at - 3, at - 1),
    ...block.map((line) => `-${line}`),
    ...insert.map((line) => `+${line}`),
    ...context3(at + remove, at + remove + 2),
  ];
  const insertion =
    moveTo === undefined
      ? []
      : [
          "@@",
          ...context3(moveTo - 2, moveTo),
          ...block.map((line) => `+${line}`),
          ...context3(moveTo + 1, moveTo + 3),
        ];
  const patch = ["*** Begin Patch", "*** Update File: f.ts", ...insertion, ...removal, "*** End Patch"].join("\n");
  return tokensOf(hashline, context, "apply_patch", { patch });
}
