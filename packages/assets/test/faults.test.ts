import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createContext } from "@toolhaft/core";
import { long } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { allowing, found, setting, temporaryFolder } from "./setting.ts";

const fixture = (name: string): string => fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));

/** Limits of a namespace of our own concern nobody else. */
const namespaces = spawnSync("unshare", ["-Urm", "true"]).status === 0;

/** Runs a shell line in namespaces of its own; the lines it printed, as JSON. */
async function apart(line: string, args: readonly string[]): Promise<Record<string, unknown>[]> {
  const child = spawn("unshare", ["-Urm", "sh", "-c", line, process.execPath, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  await once(child, "close");
  return out
    .trim()
    .split("\n")
    .map((one) => JSON.parse(one) as Record<string, unknown>);
}

describe("limits of the system", () => {
  it("a watcher at its limit is a note, and every call still sees the disk", { timeout: 120_000 }, async (test) => {
    if (!namespaces) test.skip("no user namespaces here");
    const { directory, skill } = setting();
    for (let i = 0; i < 5; i++) skill(`s${i}`);
    const line = 'echo 2 > /proc/sys/user/max_inotify_watches && exec "$0" "$@"';
    const told = await apart(line, [fixture("watch-limit.mjs"), directory]);
    expect(told.map(({ total }) => total)).toEqual([5, 6, 7]);
    const notes = told.at(-1)?.notes as string[];
    expect(notes.filter((note) => note.includes("watching failed (ENOSPC)"))).toHaveLength(1);
  });
  it("a full disk changes nothing, and what comes after it succeeds", { timeout: 120_000 }, async (test) => {
    if (!namespaces) test.skip("no user namespaces here");
    const directory = temporaryFolder();
    const line = 'folder="$2"; mount -t tmpfs -o size=2m none "$folder" && exec "$0" "$@"';
    const [made, refused, tree, next, shown] = await apart(line, [fixture("full-disk.mjs"), directory]);
    expect(made).toEqual({ version: 1 });
    expect(refused).toMatchObject({ code: "unavailable" });
    expect(tree).toEqual({ same: true });
    expect(next).toEqual({ version: 2 });
    expect(shown).toMatchObject({
      history: [
        [1, "create"],
        [2, "update"],
      ],
      body: "second\n",
    });
  });
});

describe("a history that cannot be used", () => {
  it("damaged: `unavailable`, the file and the skill as they were, reading goes on", async () => {
    const one = setting({ evolve: true });
    one.skill("s");
    one.file(".toolhaft/skills.db", "this is no database, only a text that is long enough to be looked at");
    const before = one.tree();
    expect(await one.error("update", { name: "s", body: "new" })).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("skills.db"),
    });
    for (const [path, hash] of before) expect(one.tree().get(path), path).toBe(hash);
    expect(found(await one.data("search", { query: "about" }))).toEqual(["s"]);
  });
  it("held by a process that lives: `timeout` that names it, nothing changed", { timeout: 120_000 }, async (test) => {
    if (!long) test.skip("it waits for ten seconds: in the long suite");
    const one = setting({ evolve: true });
    one.skill("s");
    await one.data("update", { name: "s", body: "one\n" });
    // Whoever holds the database: the driver itself, as any other program would.
    const Database = createRequire(import.meta.resolve("@toolhaft/sqlite"))("better-sqlite3") as new (
      path: string,
    ) => { exec(sql: string): void; close(): void };
    const other = new Database(one.path(".toolhaft/skills.db"));
    other.exec("BEGIN IMMEDIATE");
    const failure = await one.error("update", { name: "s", body: "two\n" });
    other.exec("ROLLBACK");
    other.close();
    expect(failure.code).toBe("timeout");
    expect(readFileSync(one.path(".agents/skills/s/SKILL.md"), "utf8")).toContain("one\n");
    expect(await one.data("update", { name: "s", body: "three\n" })).toMatchObject({ version: 3 });
  });
});

describe("places that lead out", () => {
  it("a default root that is a link out of the directory is read with permission only", async () => {
    const outside = temporaryFolder();
    mkdirSync(join(outside, "skills/far"), { recursive: true });
    writeFileSync(join(outside, "skills/far/SKILL.md"), "---\nname: far\ndescription: about far\n---\nwalrus\n");
    const { directory, data } = setting();
    symlinkSync(outside, join(directory, ".agents"));
    const strict = createContext({ directory });
    expect((await data("search", { query: "walrus" }, strict)).total).toBe(0);
    expect(readFileSync(join(directory, ".toolhaft/assets.db")).includes("walrus")).toBe(false);
    expect(found(await data("search", { query: "walrus" }, allowing(directory)))).toEqual(["far"]);
  });
  it("references and functions that are links out of the roots are told of and not read", async () => {
    const outside = temporaryFolder();
    writeFileSync(join(outside, "secret.md"), "walrus\n");
    const { directory, skill, data, link, role } = setting();
    skill("s");
    role("dev");
    link(".agents/skills/s/references/out.md", join(outside, "secret.md"));
    link(".agents/roles/dev/references", outside);
    expect((await data("search", { query: "walrus" })).total).toBe(0);
    expect((await data("refs", { query: "walrus" })).hits).toBe(0);
    expect(readFileSync(join(directory, ".toolhaft/assets.db")).includes("walrus")).toBe(false);
  });
});

describe("odd files", () => {
  it("names in any script, composed or not, are one name", async () => {
    const { skill, data } = setting();
    skill("cafe\u0301");
    expect((await data("inspect", { name: "caf\u00e9", type: "skill" })).asset.status).toBe("ok");
    expect(found(await data("search", { query: "caf\u00e9" }))).toHaveLength(1);
  });
  it("a folder that vanishes while it is asked for is no crash", async () => {
    const { skill, path, call } = setting();
    for (let i = 0; i < 30; i++) skill(`s${i}`, "", "walrus\n");
    const { rm } = await import("node:fs/promises");
    const removing = Promise.all(
      Array.from({ length: 30 }, (_, i) => rm(path(`.agents/skills/s${i}`), { recursive: true })),
    );
    const results = await Promise.all(Array.from({ length: 10 }, () => call("search", { query: "walrus" })));
    await removing;
    for (const result of results) expect(result.ok, result.text).toBe(true);
    expect(existsSync(path(".agents/skills/s0"))).toBe(false);
  });
});

describe('with semantics: "restrict"', () => {
  const both = async (a: string, b: string, semantics: "grant" | "restrict") => {
    const one = setting({ semantics });
    one.skill("a", a);
    one.skill("b", b);
    return (await one.data("compose", { skill_names: ["a", "b"] })).permissions;
  };
  it("a call that one skill grants and another's list lacks is starved, with the call", async () => {
    const lists = ["allowed-tools: Read Bash(git push)", "allowed-tools: Read"] as const;
    const restricted = await both(...lists, "restrict");
    expect(restricted).toMatchObject({
      semantics: "restrict",
      conflicts: expect.arrayContaining([
        expect.objectContaining({ kind: "starved", severity: "error", witness: "Bash(git push)" }),
      ]),
    });
    const granted = await both(...lists, "grant");
    expect(granted.conflicts.map(({ kind }: { kind: string }) => kind)).not.toContain("starved");
  });
  it("equal lists, and a skill without a list, starve nothing", async () => {
    for (const second of ["allowed-tools: Read", ""]) {
      const { conflicts } = await both("allowed-tools: Read", second, "restrict");
      expect(conflicts.filter(({ kind }: { kind: string }) => kind === "starved")).toEqual([]);
    }
  });
  it("what is in force is what every list grants", async () => {
    const granted = async (a: string, b: string, semantics: "grant" | "restrict") =>
      (await both(a, b, semantics)).effective.map(({ rule, from }: { rule: string; from: string[] }) => [rule, from]);
    const lists = ["allowed-tools: Bash(git *) Read Write", "allowed-tools: Bash(git status) Read"] as const;
    expect(await granted(...lists, "restrict")).toEqual([
      ["Read", ["a", "b"]],
      ["Bash(git status)", ["b"]],
    ]);
    expect((await granted(...lists, "grant")).map(([rule]: [string]) => rule)).toEqual([
      "Bash(git *)",
      "Read",
      "Write",
      "Bash(git status)",
    ]);
    // A skill without a list fences nothing, one with an empty list everything.
    expect(await granted("allowed-tools: Read", "license: MIT", "restrict")).toEqual([["Read", ["a"]]]);
    expect(await granted("allowed-tools: Read", "allowed-tools: []", "restrict")).toEqual([]);
  });
});
