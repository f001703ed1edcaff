import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { defineBench } from "@toolhaft/testing";
import { compareLines, parseText, type TextModel } from "@toolhaft/workspace";
import { diffArrays } from "diff";
import xxhash from "xxhash-wasm";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const MOST_FILES = 60;
const MOST_VERSIONS = 40;

function git(...args: readonly string[]): string {
  return execFileSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
}

/** The versions of files that changed most often, oldest first. */
function histories(): readonly (readonly string[])[] {
  const commits = new Map<string, string[]>();
  let commit = "";
  for (const line of git("log", "--no-merges", "--diff-filter=AM", "--name-only", "--format=commit %H", "HEAD").split(
    "\n",
  )) {
    if (line.startsWith("commit ")) commit = line.slice(7);
    else if (/\.(ts|md|mjs)$/.test(line)) commits.set(line, [...(commits.get(line) ?? []), commit]);
  }
  return [...commits]
    .filter(([, list]) => list.length > 1)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, MOST_FILES)
    .map(([path, list]) =>
      list
        .slice(0, MOST_VERSIONS)
        .toReversed()
        .map((id) => git("show", `${id}:${path}`)),
    );
}

interface Tally {
  unchanged: number;
  mapped: number;
  wrong: number;
  accepted: Record<number, number>;
  lines: number;
}

const CODES = [256, 676, 17_576];

export default defineBench(async (bench) => {
  if (!bench.flags.includes("--replay")) return;
  const files = histories();
  if (files.length === 0) return bench.skip("replay", "the history of this clone holds no file with two versions");
  const { h32 } = await xxhash();
  const rows: (string | number)[][] = [];
  const all: Tally = { unchanged: 0, mapped: 0, wrong: 0, accepted: {}, lines: 0 };
  for (const distance of [1, 5, 20]) {
    const tally: Tally = { unchanged: 0, mapped: 0, wrong: 0, accepted: {}, lines: 0 };
    for (const versions of files) {
      for (let k = 0; k + distance < versions.length; k++) replay(versions.slice(k, k + distance + 1), tally, h32);
    }
    rows.push([
      distance,
      tally.lines,
      tally.unchanged,
      share(tally.mapped, tally.unchanged),
      tally.wrong,
      ...CODES.map((codes) => tally.accepted[codes] ?? 0),
    ]);
    all.unchanged += tally.unchanged;
    all.mapped += tally.mapped;
    all.wrong += tally.wrong;
    all.lines += tally.lines;
  }
  bench.table(
    `read at k, edit at k + n: ${files.length} files of this repository's history`,
    [
      "n",
      "lines read",
      "unchanged",
      "of these remapped",
      "edits on another line",
      ...CODES.map((codes) => `accepted wrongly by ${codes} codes alone`),
    ],
    rows,
  );
  bench.figure({
    name: "remapped share of unchanged lines",
    ours: all.mapped,
    baseline: { name: "unchanged lines", value: all.unchanged },
    unit: "lines",
    target: { min: 0.95 },
  });
  bench.figure({
    name: "edits that would land on another line",
    ours: all.wrong,
    baseline: { name: "lines read", value: all.lines },
    unit: "lines",
    target: { max: 0 },
  });
});

function share(part: number, whole: number): string {
  return whole === 0 ? "-" : `${((100 * part) / whole).toFixed(1)} %`;
}

function linesOf(model: TextModel): readonly string[] {
  return Array.from({ length: model.lineCount }, (_, index) => model.text(index + 1));
}

/** `versions`: what was read, every version after it, what is edited. */
function replay(versions: readonly string[], tally: Tally, hash: (text: string) => number): void {
  const models = versions.map((text) => parseText(Buffer.from(text)));
  const [first, last] = [models[0], models.at(-1)];
  if (!first || !last) return;
  const texts = models.map(linesOf);
  const followed = follow(texts);
  const map = compareLines(first, last);
  const old = texts[0] ?? [];
  const now = texts.at(-1) ?? [];
  old.forEach((text, index) => {
    tally.lines++;
    const truth = followed[index];
    const mapped = map.map(index + 1);
    if (truth !== undefined) tally.unchanged++;
    if (truth !== undefined && mapped !== undefined) tally.mapped++;
    if (mapped !== undefined && truth !== undefined && mapped !== truth && now[mapped - 1] !== text) tally.wrong++;
    const there = now[index];
    if (there === undefined || truth === index + 1) return;
    for (const codes of CODES) {
      if (hash(there.trimEnd()) % codes === hash(text.trimEnd()) % codes)
        tally.accepted[codes] = (tally.accepted[codes] ?? 0) + 1;
    }
  });
}

/** Where each line of the first text is in the last, following every single change in between; `undefined` if gone. */
function follow(texts: readonly (readonly string[])[]): readonly (number | undefined)[] {
  let at: (number | undefined)[] = (texts[0] ?? []).map((_, index) => index + 1);
  for (let step = 1; step < texts.length; step++) {
    const moved = new Map<number, number>();
    let from = 1;
    let to = 1;
    for (const { added, removed, count } of diffArrays([...(texts[step - 1] ?? [])], [...(texts[step] ?? [])])) {
      if (!added && !removed) for (let index = 0; index < count; index++) moved.set(from + index, to + index);
      if (!added) from += count;
      if (!removed) to += count;
    }
    at = at.map((line) => (line === undefined ? undefined : moved.get(line)));
  }
  return at;
}
