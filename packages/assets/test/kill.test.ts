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
async function changeKilledAt(one: Setting, tool: string, input: unknown, at: number, when: "before" | "after") {
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

const contentOf = (one: Setting): string =>
  [...one.tree()]
    .filter(([path]) => path.startsWith(".agents/skills/s/"))
    .map(([path, state]) => `${path} ${state}`)
    .sort()
    .join("\n");

/** What the history calls newest is what is on disk: going back to it changes nothing. */
async function expectHead(one: Setting, version: number): Promise<void> {
  expect(await one.error("rollback", { name: "s", version })).toMatchObject({
    code: "invalid_input",
    message: expect.stringContaining("already as wanted"),
  });
}

const changes = [
  { tool: "skill_evolve_update", input: { name: "s", body: "new\n" } },
  { tool: "skill_evolve_write_file", input: { skill: "s", path: "references/deep/b.md", body: "b\n" } },
  { tool: "skill_evolve_remove_file", input: { skill: "s", path: "references/a.md" } },
  { tool: "skill_evolve_delete", input: { name: "s" } },
];

const made = (): Setting => {
  const one = setting({ evolve: true });
  one.skill("s", "", "old\n");
  one.file(".agents/skills/s/references/a.md", "a\n");
  return one;
};

describe("killed at any write", () => {
  it.each(changes)(
    "$tool: the tree is the old one or the new one, and the history says which",
    {
      timeout: 900_000,
    },
    async ({ tool, input }) => {
      const whole = made();
      const before = contentOf(whole);
      const { calls, out } = await changeKilledAt(whole, tool, input, 0, "before");
      expect(out).toContain('"version":');
      expect(calls).toBeGreaterThan(2);
      const after = contentOf(whole);
      expect(after).not.toBe(before);
      const points = Array.from({ length: calls }, (_, i) => i + 1).flatMap((at) =>
        (["before", "after"] as const).map((when) => ({ at, when })),
      );
      // One point in the middle in the quick suite, all of them in the long one.
      const chosen = long ? points : points.slice(points.length / 2, points.length / 2 + 1);
      for (const { at, when } of chosen) {
        const one = made();
        const { killed } = await changeKilledAt(one, tool, input, at, when);
        expect(killed, `${when} call ${at}`).toBe(true);
        // The next change first makes whole what was left.
        const next = await one.call("write", { skill: "s", path: "references/next.md", body: "next\n" });
        if (next.ok) await one.data("remove", { skill: "s", path: "references/next.md" });
        else expect(next.error.code, next.text).toBe("not_found");
        expect([before, after], `${when} call ${at}`).toContain(contentOf(one));
        if (!next.ok) await one.data("rollback", { name: "s" });
        const { history } = await one.data("inspect", { name: "s", type: "skill" });
        const versions = history.map(({ version }: { version: number }) => version);
        expect(versions).toEqual(versions.map((_: number, i: number) => (versions[0] ?? 1) + i));
        await expectHead(one, versions.at(-1));
      }
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
    await expectHead(one, version);
  });
});
