import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { createContext } from "@toolhaft/core";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { createAssets, type DirectoryCatalog, directoryCatalog, memoryCatalog } from "../src/index.ts";
import { found, setting, temporaryFolder } from "./setting.ts";

const text = (name: string, body = "") => `---\nname: ${name}\ndescription: about ${name}\n---\n${body}`;

function write(directory: string, name: string, body = ""): string {
  const file = join(directory, ".agents/skills", name, "SKILL.md");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, text(name, body));
  return file;
}

const namesOf = async (catalog: DirectoryCatalog): Promise<string[]> =>
  (await catalog.list({})).assets.map(({ name }) => name).sort();

describe.each([false, true])("a change on disk, watch: %s", (watch) => {
  it("create, change, rename and delete are seen, and one change reads one file", async () => {
    const directory = temporaryFolder();
    const reads: string[] = [];
    for (let i = 0; i < 20; i++) write(directory, `s${i}`);
    const catalog = directoryCatalog(undefined, { directory, watch, onRead: (path) => reads.push(path) });
    onTestFinished(() => catalog.close());
    const versions: string[] = [];
    catalog.onChange?.((version) => versions.push(version));
    expect(await namesOf(catalog)).toHaveLength(20);
    // Files that were just written are read once more: their times may stand for two states.
    await vi.waitFor(async () => {
      reads.length = 0;
      await catalog.list({});
      expect(reads).toEqual([]);
    });
    const file = write(directory, "fresh", "walrus");
    const seen = async (check: () => Promise<void>): Promise<void> =>
      vi.waitFor(check, { timeout: 20_000, interval: 20 });
    await seen(async () => expect(await namesOf(catalog)).toContain("fresh"));
    expect(new Set(reads)).toEqual(new Set([file]));
    writeFileSync(file, text("fresh", "badger"));
    await seen(async () => expect((await catalog.search({ text: "badger", limit: 5 })).total).toBe(1));
    expect(new Set(reads)).toEqual(new Set([file]));
    renameSync(join(directory, ".agents/skills/fresh"), join(directory, ".agents/skills/moved"));
    await seen(async () => expect(await namesOf(catalog)).toContain("moved"));
    expect(await namesOf(catalog)).not.toContain("fresh");
    rmSync(join(directory, ".agents/skills/moved"), { recursive: true });
    await seen(async () => expect(await namesOf(catalog)).toHaveLength(20));
    mkdirSync(join(directory, ".claude/skills/late"), { recursive: true });
    writeFileSync(join(directory, ".claude/skills/late/SKILL.md"), text("late"));
    await seen(async () => expect(await namesOf(catalog)).toContain("late"));
    if (watch) {
      const before = versions.length;
      write(directory, "told");
      // Listeners hear of it although nobody asks.
      await vi.waitFor(() => expect(versions.length).toBeGreaterThan(before), { timeout: 20_000, interval: 20 });
    }
  });
  it("reloading one asset reads no other", async () => {
    const directory = temporaryFolder();
    for (let i = 0; i < 20; i++) write(directory, `s${i}`);
    const reads: string[] = [];
    const catalog = directoryCatalog(undefined, { directory, watch, onRead: (path) => reads.push(path) });
    onTestFinished(() => catalog.close());
    await catalog.list({});
    reads.length = 0;
    await catalog.reload({ type: "skill", name: "s7", dryRun: false });
    expect(reads).toEqual([join(directory, ".agents/skills/s7/SKILL.md")]);
    reads.length = 0;
    expect(await catalog.reload({ type: "role", dryRun: true })).toMatchObject({
      added: [],
      changed: [],
      removed: [],
      unchanged: 20,
      watching: watch,
    });
    expect(reads).toHaveLength(20);
  });
});

describe("the index", () => {
  it("a new process reads nothing again, and a deleted or damaged file loses nothing", async () => {
    const directory = temporaryFolder();
    for (let i = 0; i < 10; i++) write(directory, `s${i}`, i === 3 ? "walrus" : "");
    const open = async (reads: string[] = []) => {
      const catalog = directoryCatalog(undefined, { directory, onRead: (path) => reads.push(path) });
      onTestFinished(() => catalog.close());
      return catalog;
    };
    const first = await open();
    await vi.waitFor(async () => {
      const reads: string[] = [];
      await first.list({});
      const other = await open(reads);
      await other.list({});
      await other.close();
      expect(reads).toEqual([]);
    });
    await first.close();
    const path = join(directory, ".toolhaft/assets.db");
    writeFileSync(path, Buffer.concat([readFileSync(path).subarray(0, 200), Buffer.alloc(3_000, 7)]));
    const damaged = await open();
    expect((await damaged.search({ text: "walrus", limit: 5 })).total).toBe(1);
    expect((await damaged.list({})).notes.join()).toContain("built anew");
    await damaged.close();
    for (const end of ["", "-wal", "-shm"]) rmSync(path + end, { force: true });
    expect((await (await open()).search({ text: "walrus", limit: 5 })).total).toBe(1);
  });
  it("is kept in memory where the state folder cannot be written", async () => {
    const directory = temporaryFolder();
    write(directory, "a", "walrus");
    const catalog = directoryCatalog(undefined, { directory, indexPath: "/proc/nowhere/assets.db" });
    onTestFinished(() => catalog.close());
    expect((await catalog.search({ text: "walrus", limit: 5 })).total).toBe(1);
    expect((await catalog.list({})).notes.join()).toContain("in memory");
  });
  it("two instances over one folder see each other's state and never a stale one", async () => {
    const directory = temporaryFolder();
    write(directory, "a", "one");
    const [first, second] = [directoryCatalog(undefined, { directory }), directoryCatalog(undefined, { directory })];
    onTestFinished(async () => {
      await first.close();
      await second.close();
    });
    for (let i = 0; i < 12; i++) {
      write(directory, "a", `word${i}x`);
      const [writer, reader] = i % 2 === 0 ? [first, second] : [second, first];
      for (const catalog of [writer, reader]) {
        expect((await catalog.search({ text: `word${i}x`, limit: 5 })).total).toBe(1);
        if (i > 0) expect((await catalog.search({ text: `word${i - 1}x`, limit: 5 })).total).toBe(0);
      }
    }
  });
  it("closing leaves no handle and removes nothing; nothing is made where there is nothing", async () => {
    const directory = temporaryFolder();
    const family = createAssets({ directory });
    const result = await family.tools[0]?.call({ query: "x" }, createContext({ directory }));
    expect(result?.ok && result.data).toMatchObject({ total: 0, notes: [expect.stringContaining("no root")] });
    await family.close();
    await family.close();
    expect(existsSync(join(directory, ".toolhaft"))).toBe(false);
  });
});

describe("bad places", () => {
  it("a root that is a file, a link loop, a pipe and a deep tree end with notes", async () => {
    const { directory, skill, file, link, data } = setting();
    skill("good");
    file(".claude", "not a folder");
    link(".agents/skills/a", "b");
    link(".agents/skills/b", "a");
    mkdirSync(join(directory, ".agents/skills/pipe"));
    execFileSync("mkfifo", [join(directory, ".agents/skills/pipe/SKILL.md")]);
    mkdirSync(join(directory, `.agents/skills/${"d/".repeat(400)}`), { recursive: true });
    file(`.agents/skills/${"d/".repeat(6)}SKILL.md`, text("d"));
    const page = await data("search", { query: "about" });
    expect(found(page)).toEqual(["good"]);
    const notes = page.notes.join("\n");
    for (const part of [".claude is not a folder", "skills/a leads nowhere (ELOOP)", "4 levels deep"])
      expect(notes).toContain(part);
    const { issues } = await data("validate");
    expect(issues).toMatchObject([
      { rule: "not_text", asset: { name: "pipe" }, message: expect.stringContaining("a pipe") },
    ]);
  });
  it("when no root can be read the call says why", async (test) => {
    if (process.getuid?.() === 0) test.skip("root reads everything");
    const { skill, path, error } = setting();
    skill("x");
    chmodSync(path(".agents"), 0);
    const failure = await error("search", { query: "x" });
    chmodSync(path(".agents"), 0o755);
    expect(failure).toMatchObject({ code: "unavailable", message: expect.stringContaining("EACCES") });
  });
  it("a skill that links out of the workspace is neither read nor told of, unless somebody allows it", async () => {
    const outside = temporaryFolder();
    mkdirSync(join(outside, "far"));
    writeFileSync(join(outside, "far/SKILL.md"), text("far", "walrus"));
    const { directory, skill, data } = setting();
    skill("near");
    symlinkSync(join(outside, "far"), join(directory, ".agents/skills/far"));
    const strict = createContext({ directory });
    const refused = await data("search", { query: "walrus" }, strict);
    expect(refused).toMatchObject({ total: 0, notes: [expect.stringContaining("no permission")] });
    expect(readFileSync(join(directory, ".toolhaft/assets.db")).includes("walrus")).toBe(false);
    const asked: string[] = [];
    const asker = async ({ resources }: { resources: readonly string[] }) => {
      asked.push(...resources);
      return { allow: true } as const;
    };
    expect(found(await data("search", { query: "walrus" }, createContext({ directory, asker })))).toEqual(["far"]);
    expect(asked).toContain(join(outside, "far/SKILL.md"));
    // What one call was allowed is not shown to the next that is not.
    expect((await data("search", { query: "walrus" }, strict)).total).toBe(0);
  });
  it.each(["*", '"', "AND", "OR NOT", "👍", "\ud800", "a NEAR b", "name:x", "^x", "{a}", "(", "-x", "x*y"])(
    "query %j is plain text",
    async (query) => {
      const { skill, call } = setting();
      skill("x");
      const result = await call("search", { query });
      expect(result.ok, result.text).toBe(true);
    },
  );
  it("roles with a slash at the end, limits and names", async () => {
    const { role, error, data } = setting();
    role("dev");
    expect((await data("validate", { role_id: "dev/" })).scope).toBe("dev");
    expect(await error("validate", { role_id: "dve" })).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("dev"),
    });
    expect((await error("validate", { role_id: "../dev" })).code).toBe("not_found");
    for (const limit of [0, 501, 1.5, "five"]) expect((await error("validate", { limit })).code).toBe("invalid_input");
  });
});

describe("every root and place of the format", () => {
  it.each([".agents", ".claude", ".opencode"])(
    "%s holds all four kinds, three levels of roles, role.yaml",
    async (root) => {
      const { file, data, directory } = setting();
      file(`${root}/skills/group/deep/one/SKILL.md`, text("one"));
      file(`${root}/skills/group/deep/one/references/guide.md`, "---\ndescription: told\n---\n# G\n");
      file(`${root}/functions/sub/plan.md`, "---\ndescription: d\n---\nx");
      file(`${root}/references/style.md`, "# Style\n");
      const prompt = "prompt: p\n";
      file(
        `${root}/roles/dev/role.yaml`,
        `${prompt}references: {api: docs/api.md, note: {text: "inline note"}}\nfunctions: [{name: inline, gate: user_approval}]\nsubagents: {in: {prompt: p, functions: {deep: {gate: gate}}}}\n`,
      );
      file(`${root}/roles/dev/docs/api.md`, "# API\n");
      file(`${root}/roles/dev/subagents/a/role.yaml`, prompt);
      file(`${root}/roles/dev/subagents/a/subagents/b/role.yaml`, prompt);
      file(`${root}/roles/dev/subagents/a/subagents/b/subagents/c/role.yaml`, prompt);
      file(`${root}/roles/dev/subagents/a/subagents/b/subagents/c/subagents/d/role.yaml`, prompt);
      file(`${root}/role.yaml`, prompt);
      const catalog = directoryCatalog(undefined, { directory });
      onTestFinished(() => catalog.close());
      const { assets, notes } = await catalog.list({});
      const told = assets.map(({ type, name, role }) => `${type} ${role ?? "-"} ${name}`).sort();
      expect(told).toEqual(
        [
          "function - plan",
          "function dev inline",
          "function dev/in deep",
          "reference - one/guide",
          "reference - style",
          "reference dev api",
          "reference dev note",
          `role - ${root.slice(1)}`,
          "role - dev",
          "role dev a",
          "role dev in",
          "role dev/a b",
          "role dev/a/b c",
          "skill - one",
        ]
          .map((line) =>
            line.replace(
              /^role (\S+) (\S+)$/,
              (_, parent: string, name: string) => `role ${parent} ${parent === "-" ? name : `${parent}/${name}`}`,
            ),
          )
          .sort(),
      );
      expect(notes.join()).toContain("3 levels of roles");
      expect(assets.find(({ name }) => name === "one/guide")?.description).toBe("told");
      for (const { id, type } of assets) expect((await data("inspect", { name: id, type })).asset.id).toBe(id);
    },
  );
  it("the directory's own skills, roles and role.yaml, and the home folder's when asked", async () => {
    const { file, directory } = setting();
    file("skills/one/SKILL.md", text("one"));
    file("roles/dev/role.yaml", "prompt: p\n");
    file("role.yaml", "prompt: p\n");
    file("functions/plan.md", "---\ndescription: d\n---\n");
    const home = temporaryFolder();
    mkdirSync(join(home, ".agents/skills/mine"), { recursive: true });
    writeFileSync(join(home, ".agents/skills/mine/SKILL.md"), text("mine"));
    vi.stubEnv("HOME", home);
    onTestFinished(() => void vi.unstubAllEnvs());
    const own = setting({ userRoots: true }, directory);
    expect(found(await own.data("search", { query: "about" })).sort()).toEqual(["mine", "one"]);
    const strict = createContext({ directory });
    // The home folder lies outside the directory: its files pass the gate like any other.
    expect(await own.data("search", { query: "mine" }, strict)).toMatchObject({
      total: 0,
      notes: [expect.stringContaining("left out")],
    });
    expect((await own.data("search", { query: "plan" })).results).toMatchObject([{ asset: { type: "function" } }]);
  });
});

it("a catalog in memory serves every reading tool", async () => {
  const catalog = memoryCatalog([
    {
      type: "skill",
      name: "pdf",
      description: "Fill forms",
      text: text("pdf", "walrus"),
      files: { "references/a.md": "A needle" },
    },
    { type: "reference", name: "guide", text: "# Guide\nneedle\n" },
  ]);
  const one = setting({ catalog });
  expect(found(await one.data("search", { query: "walr" }))).toEqual(["pdf"]);
  expect((await one.data("search", { query: "walrus guide" })).near).toHaveLength(2);
  expect((await one.data("inspect", { name: "pdf", type: "skill" })).content.text).toBe("walrus");
  expect((await one.data("refs", { query: "needle" })).hits).toBe(1);
  expect((await one.data("list", { skill_id: "pdf" })).files).toHaveLength(2);
  expect((await one.data("read", { skill_id: "pdf", path: "references/a.md" })).content.text).toBe("A needle");
  expect((await one.data("validate")).errors).toBe(0);
  expect((await one.error("reload")).code).toBe("unsupported");
});
