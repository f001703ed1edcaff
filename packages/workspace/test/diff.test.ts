import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { runs } from "@toolhaft/testing";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { type UnifiedDiff, unifiedDiff } from "../src/diff.ts";
import { type LineSplice, spliceLines } from "../src/splice.ts";
import { parseText } from "../src/text-model.ts";
import { anyBytes, splicesFor } from "./arbitraries.ts";

const folder = mkdtempSync(join(tmpdir(), "diff-test-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function fresh(files: Readonly<Record<string, Uint8Array>>): string {
  const at = join(folder, `${count++}`);
  mkdirSync(at);
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(at, name)), { recursive: true });
    writeFileSync(join(at, name), bytes);
  }
  return at;
}

function run(command: string, args: readonly string[], cwd: string, input: Uint8Array): string {
  return execFileSync(command, args, { cwd, input, encoding: "utf8", stdio: ["pipe", "pipe", "pipe"], env: gitFree });
}
const gitFree = { ...process.env, GIT_CEILING_DIRECTORIES: folder, LC_ALL: "C" };

const gitApply = (cwd: string, diff: UnifiedDiff) => run("git", ["apply", "--whitespace=nowarn", "-"], cwd, diff.bytes);
const patch = (cwd: string, diff: UnifiedDiff) =>
  run("patch", ["-p1", "--binary", "-s", "--no-backup-if-mismatch"], cwd, diff.bytes);

function edited(text: string | Uint8Array, ...splices: LineSplice[]) {
  const before = parseText(typeof text === "string" ? Buffer.from(text) : text);
  const { bytes, changes } = spliceLines(before, splices);
  return { before, after: parseText(bytes), bytes, changes };
}

const names = { before: "f", after: "f" };

describe("unifiedDiff", () => {
  it("applied with git apply and patch gives the new file, and counts as git does", () => {
    const cases = anyBytes
      .filter((bytes) => !bytes.includes(0))
      .chain((bytes) => fc.tuple(fc.constant(bytes), splicesFor(parseText(bytes).lineCount)));
    const files: Record<string, Uint8Array> = {};
    const wanted: { name: string; bytes: Uint8Array; diff: UnifiedDiff }[] = [];
    fc.assert(
      fc.property(cases, ([bytes, splices]) => {
        const ascii = splices.map((splice) => ({ ...splice, insert: splice.insert.map((l) => l.replace("é", "e")) }));
        const { before, after, bytes: written, changes } = edited(bytes, ...ascii);
        const name = `f${wanted.length}`;
        const diff = unifiedDiff(before, after, changes, { before: name, after: name });
        if (diff.bytes.length === 0) {
          expect(Buffer.from(written)).toEqual(Buffer.from(bytes));
          return;
        }
        files[name] = bytes;
        wanted.push({ name, bytes: written, diff });
      }),
      { numRuns: runs(5_000) },
    );
    const all = Buffer.concat(wanted.map(({ diff }) => diff.bytes));
    const counted = run("git", ["apply", "--numstat", "-"], fresh(files), all);
    const counts = new Map(counted.split("\n").map((line) => [line.split("\t")[2], line.split("\t").slice(0, 2)]));
    const byGit = fresh(files);
    run("git", ["apply", "--whitespace=nowarn", "-"], byGit, all);
    const byPatch = fresh(files);
    run("patch", ["-p1", "--binary", "-s", "--no-backup-if-mismatch"], byPatch, all);
    for (const { name, bytes, diff } of wanted) {
      expect(counts.get(name)).toEqual([`${diff.additions}`, `${diff.deletions}`]);
      expect(readFileSync(join(byGit, name)).toString("hex")).toBe(Buffer.from(bytes).toString("hex"));
      // patch removes a file that becomes empty.
      const patched = join(byPatch, name);
      expect(existsSync(patched) ? readFileSync(patched).toString("hex") : "").toBe(Buffer.from(bytes).toString("hex"));
    }
  });

  it("joins edits whose context touches and trims equal ends", () => {
    const text = Array.from({ length: 40 }, (_, index) => `l${index + 1}\n`).join("");
    const near = edited(text, { at: 10, remove: 1, insert: ["X"] }, { at: 17, remove: 1, insert: ["Y"] });
    expect(unifiedDiff(near.before, near.after, near.changes, names).text.match(/^@@.*/gm)).toEqual([
      "@@ -7,14 +7,14 @@",
    ]);
    const far = edited(text, { at: 10, remove: 1, insert: ["X"] }, { at: 18, remove: 1, insert: ["Y"] });
    expect(unifiedDiff(far.before, far.after, far.changes, names).text.match(/^@@.*/gm)).toHaveLength(2);
    const padded = edited(text, { at: 9, remove: 3, insert: ["l9", "X", "l11"] });
    expect(unifiedDiff(padded.before, padded.after, padded.changes, names)).toMatchObject({
      additions: 1,
      deletions: 1,
    });
  });

  it("writes the diff that git writes for a changed line", () => {
    const { before, after, changes } = edited("a\nb\nc", { at: 3, remove: 1, insert: ["C"] });
    expect(unifiedDiff(before, after, changes, names).text).toBe(
      "--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n a\n b\n-c\n\\ No newline at end of file\n+C\n\\ No newline at end of file\n",
    );
  });

  it.each([
    "plain",
    "two words",
    'quo"te',
    "漢字.txt",
    "tab\there",
    "new\nline",
    "back\\slash",
    "dir/sub dir/f",
    "b/a/x",
  ])("names %j so that git and patch find it, also when it is created, deleted or moved", (name) => {
    const text = edited("a\nb\n", { at: 1, remove: 1, insert: ["A"] });
    const modify = unifiedDiff(text.before, text.after, text.changes, { before: name, after: name });
    const create = unifiedDiff(null, text.after, [], { before: name, after: name, mode: 0o755 });
    const remove = unifiedDiff(text.before, null, [], { before: name, after: name });
    const move = unifiedDiff(text.before, text.after, text.changes, { before: name, after: `${name} new` });
    const rename = unifiedDiff(text.before, text.before, [], { before: name, after: `${name} new` });
    for (const apply of [gitApply, patch]) {
      let at = fresh({ [name]: text.before.bytes });
      apply(at, modify);
      expect(readFileSync(join(at, name), "utf8")).toBe("A\nb\n");
      at = fresh({});
      apply(at, create);
      expect(readFileSync(join(at, name), "utf8")).toBe("A\nb\n");
      expect(statSync(join(at, name)).mode & 0o100).toBe(0o100);
      at = fresh({ [name]: text.before.bytes });
      apply(at, remove);
      expect(existsSync(join(at, name))).toBe(false);
      for (const [diff, content] of [
        [move, "A\nb\n"],
        [rename, "a\nb\n"],
      ] as const) {
        at = fresh({ [name]: text.before.bytes });
        apply(at, diff);
        expect(existsSync(join(at, name))).toBe(false);
        expect(readFileSync(join(at, `${name} new`), "utf8")).toBe(content);
      }
    }
  });

  it("tells a created and a deleted empty file", () => {
    const empty = parseText(Buffer.from(""));
    const at = fresh({});
    gitApply(at, unifiedDiff(null, empty, [], names));
    expect(readFileSync(join(at, "f"), "utf8")).toBe("");
    gitApply(at, unifiedDiff(empty, null, [], names));
    expect(existsSync(join(at, "f"))).toBe(false);
  });

  it("is cut at a whole hunk, with the counts of all", () => {
    const text = Array.from({ length: 2_000 }, (_, index) => `line ${index}\n`).join("");
    const splices = Array.from({ length: 100 }, (_, index) => ({
      at: index * 20 + 1,
      remove: 1,
      insert: ["x".repeat(1_000)],
    }));
    const { before, after, changes } = edited(text, ...splices);
    const diff = unifiedDiff(before, after, changes, names);
    expect(diff).toMatchObject({ truncated: true, additions: 100, deletions: 100 });
    expect(diff.bytes.length).toBeLessThanOrEqual(65_536);
    const at = fresh({ f: before.bytes });
    gitApply(at, diff);
    expect(
      readFileSync(join(at, "f"), "utf8")
        .split("\n")
        .filter((line) => line.startsWith("xxx")),
    ).toHaveLength(diff.text.match(/^@@/gm)?.length ?? -1);
    expect(unifiedDiff(null, after, [], names)).toMatchObject({ truncated: true, additions: 2_000, deletions: 0 });
  });

  it("is exact in bytes and readable as text where the file is not UTF-8", () => {
    const { before, after, changes } = edited(Buffer.from("636166e90a620a", "hex"), {
      at: 2,
      remove: 1,
      insert: ["B"],
    });
    const diff = unifiedDiff(before, after, changes, names);
    expect(diff.text).toContain(" caf\ufffd\n-b\n+B\n");
    const at = fresh({ f: before.bytes });
    gitApply(at, diff);
    expect(readFileSync(join(at, "f")).toString("hex")).toBe("636166e90a420a");
  });

  it("leaves the leading slash of an absolute path out", () => {
    const { before, after, changes } = edited("a\n", { at: 1, remove: 1, insert: ["b"] });
    expect(unifiedDiff(before, after, changes, { before: "/x/y", after: "/x/y" }).text).toMatch(/^--- a\/x\/y\n/);
  });
});
