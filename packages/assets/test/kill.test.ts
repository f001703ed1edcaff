import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { long, runs, startChild } from "@toolhaft/testing";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Setting, setting } from "./setting.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
const preload = pathToFileURL(fixture("kill-at.mjs")).href;

/** One change in a process of its own that is killed at the n-th call that changes a file; 0 kills nowhere. */
async function changeKilledAt(one: Setting, { tool, input }: Change, at: number, when: Point["when"]) {
  const child = spawn(
    process.execPath,
    ["--import", preload, fixture("one-change.mjs"), one.directory, tool, JSON.stringify(input)],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, KILL_AT: String(at), KILL_WHEN: when } },
  );
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  const [, signal] = await once(child, "close");
  return { killed: signal === "SIGKILL", out, calls: Number(/calls (\d+)/.exec(out)?.[1] ?? 0) };
}

interface Change {
  tool: string;
  input: object;
  /** The skill that is changed. @default "s" */
  name?: string;
  /** What comes before it. */
  prepare?(one: Setting): Promise<unknown>;
}

interface Point {
  at: number;
  when: "before" | "after";
}

const changes: readonly Change[] = [
  {
    tool: "skill_evolve_create",
    input: { name: "made", manifest: { description: "d" }, body: "new\n" },
    name: "made",
  },
  { tool: "skill_evolve_update", input: { name: "s", body: "new\n" } },
  { tool: "skill_evolve_patch", input: { name: "s", old_string: "old", new_string: "new" } },
  {
    tool: "skill_evolve_rollback",
    input: { name: "s", version: 1 },
    async prepare(one) {
      await one.data("write", { skill: "s", path: "references/more.md", body: "more\n" });
      await one.data("update", { name: "s", body: "newer\n" });
    },
  },
  { tool: "skill_evolve_write_file", input: { skill: "s", path: "references/deep/b.md", body: "b\n" } },
  { tool: "skill_evolve_remove_file", input: { skill: "s", path: "references/a.md" } },
  { tool: "skill_evolve_delete", input: { name: "s" } },
];

const contentOf = (one: Setting, name: string): string =>
  [...one.tree()]
    .filter(([path]) => path.startsWith(`.agents/skills/${name}/`))
    .map(([path, state]) => `${path} ${state}`)
    .sort()
    .join("\n");

/** What the history calls newest is what is on disk: going back to it changes nothing. */
async function expectHead(one: Setting, name: string, version: number): Promise<void> {
  expect(await one.error("rollback", { name, version })).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("already as wanted"),
  });
}

async function expectWhole(one: Setting, change: Change, before: string, after: string): Promise<void> {
  const { name = "s", tool, input } = change;
  // The next change first makes whole what was left.
  const next = await one.call("write", { skill: name, path: "references/next.md", body: "next\n" });
  if (next.ok) await one.data("remove", { skill: name, path: "references/next.md" });
  else expect(next.error.code, next.text).toBe("not_found");
  if (!next.ok && tool === "skill_evolve_create") {
    // Making it again, too, first makes whole what was left, and that may be the skill.
    const again = await one.call("create", { ...input });
    if (!again.ok) expect(again.error.code, again.text).toBe("conflict");
    expect(contentOf(one, name)).toBe(after);
  } else {
    expect([before, after]).toContain(contentOf(one, name));
    if (!next.ok) await one.data("rollback", { name });
  }
  const { history } = await one.data("inspect", { name, type: "skill" });
  const versions = history.map(({ version }: { version: number }) => version);
  expect(versions).toEqual(versions.map((_: number, i: number) => (versions[0] ?? 1) + i));
  await expectHead(one, name, versions.at(-1));
}

const made = async ({ prepare }: Change): Promise<Setting> => {
  const one = setting({ evolve: true });
  one.skill("s", "", "old\n");
  one.file(".agents/skills/s/references/a.md", "a\n");
  await prepare?.(one);
  return one;
};

describe("killed at any write", () => {
  it.each(changes)(
    "$tool: the tree is the old one or the new one, and the history says which",
    {
      timeout: 900_000,
    },
    async (change) => {
      const { name = "s" } = change;
      const whole = await made(change);
      const before = contentOf(whole, name);
      const { calls, out } = await changeKilledAt(whole, change, 0, "before");
      expect(out).toContain('"version":');
      expect(calls).toBeGreaterThan(2);
      const after = contentOf(whole, name);
      expect(after).not.toBe(before);
      // The calls follow one another: what is there after one is what is there before the next.
      const points: Point[] = Array.from({ length: calls }, (_, i) => ({ at: i + 1, when: "before" }));
      points.push({ at: calls, when: "after" });
      // One point in the middle in the quick suite, all of them in the long one, two processes at a time.
      const chosen = long ? points : points.slice(points.length / 2, points.length / 2 + 1);
      const check = async ({ at, when }: Point): Promise<void> => {
        const one = await made(change);
        const { killed } = await changeKilledAt(one, change, at, when);
        expect(killed, `${when} call ${at}`).toBe(true);
        await expectWhole(one, change, before, after);
      };
      for (let i = 0; i < chosen.length; i += 2) await Promise.all(chosen.slice(i, i + 2).map(check));
    },
  );
});

const patches = runs(50);

describe("two processes", () => {
  it(`${patches} patches each, one killed: versions without gap, the tree is the head's`, {
    timeout: 900_000,
  }, async () => {
    const one = setting({ evolve: true });
    one.skill("s", "", Array.from({ length: patches * 2 }, (_, i) => `l${i + 1}\n`).join(""));
    const start = (first: number, last: number) =>
      startChild(fixture("patcher.mjs"), [one.directory, "s", String(first), String(last)]);
    const [lives, dies] = [start(1, patches), start(patches + 1, patches * 2)];
    await dies.hasLines(1 + Math.ceil(Math.random() * (patches - 1)));
    dies.process.kill("SIGKILL");
    await Promise.all([lives.ended, dies.ended]);
    const results = lives.lines.slice(1).map((line) => JSON.parse(line) as { line: number; code?: string });
    expect(results).toHaveLength(patches);
    for (const { code } of results) if (code !== undefined) expect(code).toBe("conflict");
    const file = one.path(".agents/skills/s/SKILL.md");
    const { version } = await one.data("patch", {
      name: "s",
      old_string: "description: about s",
      new_string: "description: all about s",
    });
    const lines = readFileSync(file, "utf8").split("\n");
    for (const { line, code } of results) if (code === undefined) expect(lines).toContain(`p${line}`);
    for (const told of dies.lines.slice(1)) {
      const { line, code } = JSON.parse(told) as { line: number; code?: string };
      if (code === undefined) expect(lines).toContain(`p${line}`);
    }
    const { history } = await one.data("inspect", { name: "s", type: "skill" });
    const versions = history.map((entry: { version: number }) => entry.version);
    expect(versions.at(-1)).toBe(version);
    expect(versions).toEqual(versions.map((_: number, i: number) => versions[0] + i));
    await expectHead(one, "s", version);
  });
});
