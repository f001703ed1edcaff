// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of many answers are read here
import { readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { found, rules, setting } from "./setting.ts";

describe("scope", () => {
  it("scope-1", async () => {
    const { role, fn, data } = setting();
    role("dev");
    role("devops");
    fn("dev/a", "requires: [nope]");
    fn("devops/b", "requires: [nix]");
    const checked = await data("validate", { role_id: "dev" });
    expect(checked.issues).toMatchObject([{ rule: "unknown_name", asset: { name: "a", role: "dev" } }]);
    expect(checked.checked.function).toBe(1);
  });
  it("scope-2", async () => {
    const { role, fn, data } = setting();
    role("dev", "subagents:\n  sub:\n    prompt: p\n    functions:\n      - name: f\n        requires: [x]");
    fn("dev/own", "requires: [y]");
    const all = await data("validate", { role_id: "dev" });
    expect(all.issues.map(({ message }: { message: string }) => message).join()).toContain('"x"');
    for (const role_id of ["dev/sub", "dev--sub"]) {
      const below = await data("validate", { role_id });
      expect(below.issues).toMatchObject([{ rule: "unknown_name", asset: { name: "f", role: "dev/sub" }, line: 8 }]);
      expect(below.checked).toMatchObject({ role: 1, function: 1 });
    }
  });
  it("scope-3", async () => {
    const { role, file, data } = setting();
    role("dev");
    role("dev/sub");
    file(".agents/roles/dev/skills/one/SKILL.md", "---\nname: one\ndescription: about one\n---\n");
    file(".agents/roles/dev/subagents/sub/skills/two/SKILL.md", "---\nname: two\ndescription: about two\n---\n");
    expect(found(await data("search", { query: "about", role_id: "dev--sub" }))).toEqual(["two"]);
    expect(found(await data("search", { query: "about", role_id: "dev" })).sort()).toEqual(["one", "two"]);
  });
});

describe("rules", () => {
  it("rules-1", async () => {
    const { role, fn, data } = setting();
    role("dev");
    fn("dev/a", "gate: user_approval\ntransitions: [{when: gate, activate: [b]}]");
    fn("dev/b");
    expect(await data("validate")).toMatchObject({ issues: [], errors: 0, warnings: 0 });
  });
  it("rules-2", async () => {
    const { role, fn, data } = setting();
    role("dev");
    fn(
      "dev/a",
      "gate: usr_aproval\ncontinue_until: todos_done\nobserve: [{on: tool_after, when: nothing(x), set_evidence: t}]",
    );
    const { issues } = await data("validate");
    expect(issues).toMatchObject([
      { rule: "unknown_condition", severity: "error", line: 2, column: 7 },
      { rule: "unknown_condition", severity: "error", line: 3 },
      { rule: "unknown_condition", severity: "error", line: 4 },
    ]);
    for (const { file } of issues) expect(file).toBe(".agents/roles/dev/functions/a.md");
  });
  it("rules-3", async () => {
    const { role, fn, data } = setting();
    role("dev");
    role("qa");
    fn("dev/a", "requires: [b]");
    fn("qa/b");
    expect((await data("validate")).issues).toMatchObject([
      { rule: "unknown_name", message: expect.stringContaining('"b"') },
    ]);
    fn("b");
    expect((await data("validate")).issues).toEqual([]);
  });
  it("rules-4", async () => {
    const { role, fn, data } = setting();
    role("dev");
    fn("dev/a", "requires: [b]");
    fn("dev/b", "requires: [a]");
    expect((await data("validate")).issues).toMatchObject([
      { rule: "requires_cycle", message: expect.stringContaining("a, b") },
    ]);
  });
  it("rules-5", async () => {
    const { role, fn, data } = setting();
    role("dev");
    fn("dev/b", "consumes: plan");
    expect((await data("validate")).issues).toMatchObject([{ rule: "unproduced_artifact", severity: "warning" }]);
    fn("dev/a", "produces: plan");
    expect((await data("validate")).issues).toEqual([]);
  });
  it("rules-6", async () => {
    const { role, fn, data } = setting();
    role("dev");
    for (const [name, needs] of [
      ["t", "a"],
      ["a", "b"],
      ["b", "c"],
      ["c", "a"],
      ["s", "s"],
    ])
      fn(`dev/${name}`, `requires: [${needs}]`);
    const { issues } = await data("validate");
    expect(rules({ issues })).toEqual(["requires_cycle", "requires_cycle"]);
    expect(issues.map(({ message }: { message: string }) => message).sort()).toEqual([
      "a, b, c require each other in a circle",
      "s requires itself",
    ]);
  });
  it("rules-7", async () => {
    const { role, fn, data } = setting();
    role("dev");
    fn("dev/one", "name: plan");
    fn("dev/two", "name: plan");
    const { issues } = await data("validate");
    expect(rules({ issues })).toEqual(["duplicate_name"]);
    expect(issues[0].message).toMatch(/one\.md.*two\.md/);
  });
});

describe("fix", () => {
  it("fix-1", async () => {
    const { role, fn, data, path, tree } = setting();
    role("dev");
    fn("dev/plan");
    fn("dev/go", "# keep me\nrequires: [plna] # why");
    const before = tree();
    const first = await data("validate");
    expect(first.issues).toMatchObject([
      { rule: "unknown_name", fix: { diff: expect.stringContaining("+requires: [plan] # why") } },
    ]);
    expect(tree()).toEqual(before);
    const second = await data("validate", { fix: true });
    expect(second.fixed).toHaveLength(1);
    const text = readFileSync(path(".agents/roles/dev/functions/go.md"), "utf8");
    expect(text).toContain("requires: [plan] # why");
    expect(text).toContain("# keep me");
    expect((await data("validate")).issues).toEqual([]);
  });
  it("fix-2", async () => {
    const { role, fn, data, tree } = setting();
    role("dev");
    fn("dev/plan1");
    fn("dev/plan2");
    fn("dev/go", "requires: [plan3]");
    const before = tree();
    const { notFixed, fixed } = await data("validate", { fix: true });
    expect(tree()).toEqual(before);
    expect(fixed).toEqual([]);
    expect(notFixed).toMatchObject([{ rule: "unknown_name", reason: expect.stringMatching(/plan1.*plan2/) }]);
  });
  it("fix-3", async () => {
    const { file, data, path } = setting();
    file(".agents/skills/pdf-forms/SKILL.md", "---\nname: pdf_forms\ndescription: d\n---\nx\n");
    await data("validate", { fix: true });
    expect(readFileSync(path(".agents/skills/pdf-forms/SKILL.md"), "utf8")).toBe(
      "---\nname: pdf-forms\ndescription: d\n---\nx\n",
    );
    expect((await data("validate")).issues).toEqual([]);
  });
  it("fix-4", async () => {
    const { file, data, path } = setting();
    file(
      ".agents/skills/forms/SKILL.md",
      "---\nname: forms\ndescription: Use when: filling forms\n# a comment\n---\nx\n",
    );
    await data("validate", { fix: true });
    expect(readFileSync(path(".agents/skills/forms/SKILL.md"), "utf8")).toBe(
      '---\nname: forms\ndescription: "Use when: filling forms"\n# a comment\n---\nx\n',
    );
    expect((await data("inspect", { name: "forms", type: "skill" })).asset.description).toBe("Use when: filling forms");
  });
  it("fix-5", async () => {
    const { skill, data, path } = setting();
    skill("x", "metadata:\n  version: 1.0 # of the format");
    await data("validate", { fix: true });
    expect(readFileSync(path(".agents/skills/x/SKILL.md"), "utf8")).toContain('  version: "1.0" # of the format\n');
    expect((await data("validate")).issues).toEqual([]);
  });
  it("fix-6", async () => {
    const { file, error, tree, directory } = setting();
    for (const name of ["a-a", "b-b"])
      file(`.agents/skills/${name}/SKILL.md`, `---\nname: ${name.replace("-", "_")}\ndescription: d\n---\n`);
    const before = tree();
    const asker = async () => ({ allow: false, feedback: "no" }) as const;
    const { createContext } = await import("@toolhaft/core");
    expect((await error("validate", { fix: true }, createContext({ directory, asker }))).code).toBe("denied");
    expect(tree()).toEqual(before);
  });
});

describe("reload", () => {
  it("reload-1", async () => {
    const { skill, data } = setting();
    skill("a");
    skill("b");
    await data("search", { query: "about" });
    skill("a", "", "changed a\n");
    skill("b", "", "changed b\n");
    const report = await data("reload", { type: "skill", name: "a" });
    expect(report.changed.map(({ name }: { name: string }) => name)).toEqual(["a"]);
    expect(report).toMatchObject({ added: [], removed: [], unchanged: 1 });
    expect(report.before).not.toBe(report.catalogVersion);
  });
  it("reload-2", async () => {
    const { skill, error, path, family } = setting({ hotReload: false });
    skill("a");
    const file = path(".agents/skills/a/SKILL.md");
    utimesSync(file, new Date(0), new Date());
    const before = statSync(file).atimeMs;
    expect(await error("reload")).toMatchObject({ code: "unsupported" });
    expect(statSync(file).atimeMs).toBe(before);
    expect(family.catalog).toBeDefined();
  });
  it("reload-3", async () => {
    const { skill, file, data } = setting();
    skill("a");
    await data("search", { query: "about" });
    file(".agents/skills/a/SKILL.md", "---\nname: a\ndescription: Use when: broken\n---\nraw text\n");
    const report = await data("reload", { type: "skill", name: "a" });
    expect(report.changed).toMatchObject([{ name: "a" }]);
    expect(rules(report)).toContain("yaml_invalid");
    const shown = await data("inspect", { name: "a", type: "skill" });
    expect(shown.asset).toMatchObject({ status: "broken", description: "" });
    expect(shown.content.text).toContain("raw text");
  });
  it("reload-4", async () => {
    const { skill, data, path } = setting();
    skill("a", "", "walrus\n");
    expect(found(await data("search", { query: "walrus" }))).toEqual(["a"]);
    const file = path(".agents/skills/a/SKILL.md");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, readFileSync(file, "utf8").replace("walrus", "badger"));
    utimesSync(file, atime, mtime);
    expect(found(await data("search", { query: "badger" }))).toEqual(["a"]);
    expect(found(await data("search", { query: "walrus" }))).toEqual([]);
  });
  it("reload-5", async () => {
    const { skill, error } = setting();
    skill("pdf-forms");
    expect(await error("reload", { type: "skill", name: "pdf-form" })).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("pdf-forms"),
    });
  });
});

describe("compose", () => {
  const push = (options = {}) => {
    const made = setting(options);
    made.skill("a", "allowed-tools: Bash(git push:*)");
    made.skill("b", "disallowed-tools: Bash");
    return made;
  };
  it("compose-1", async () => {
    const { data, call } = push();
    const { permissions } = await data("compose", { skill_names: ["a", "b"] });
    expect(permissions.conflicts).toMatchObject([
      {
        kind: "grant_removed",
        severity: "error",
        rules: [
          { owner: "a", rule: "Bash(git push:*)" },
          { owner: "b", rule: "Bash" },
        ],
        witness: "Bash(git push)",
      },
    ]);
    expect((await call("compose", { skill_names: ["a", "b"] })).text).toContain(
      "error grant_removed: a allows Bash(git push:*), b removes Bash. Example: Bash(git push)",
    );
  });
  it("compose-2", async () => {
    const { call } = push();
    const result = await call("compose", { skill_names: ["a", "b"], check_conflicts: false });
    expect(result.ok && result.data).not.toHaveProperty("permissions");
    expect(result.text).toContain("not checked");
    expect(result.text.toLowerCase()).not.toMatch(/conflict-free|no conflicts/);
  });
  it("compose-3", async () => {
    const { skill, file, link, data, call } = setting();
    skill("a");
    skill("b");
    file(".agents/skills/a/references/x.md", "# X\n");
    link(".agents/skills/b/references/x.md", "../../a/references/x.md");
    const composed = await data("compose", { skill_names: ["a", "b"] });
    expect(composed.references).toMatchObject([{ skills: ["a", "b"] }]);
    expect((await call("compose", { skill_names: ["a", "b"] })).text).toContain("2 skills together, 1 reference\n");
  });
  it("compose-4", async () => {
    const { skill, data } = setting();
    skill("a", "allowed-tools: Read Grep");
    skill("b", "allowed-tools: Bash");
    const { permissions } = await data("compose", { skill_names: ["a", "b"] });
    expect(permissions.conflicts).toMatchObject([
      {
        kind: "read_only_lost",
        severity: "warning",
        rules: expect.arrayContaining([expect.objectContaining({ owner: "a" })]),
      },
    ]);
  });
  it("compose-5", async () => {
    const { skill, data } = setting();
    skill("a", "allowed-tools: Read(src/*)");
    skill("b", "disallowed-tools: Read(src/a/**)");
    expect((await data("compose", { skill_names: ["a", "b"] })).permissions.conflicts).toEqual([]);
  });
  it("compose-6", async () => {
    const { skill, role, data } = setting();
    role("r", "permission: {deny: [Bash]}");
    skill("a", "allowed-tools: bash");
    const { permissions } = await data("compose", { skill_names: ["a"], role_id: "r" });
    expect(permissions.conflicts).toMatchObject([{ kind: "role_denies", relation: "equal" }]);
  });
  it("compose-7", async () => {
    const { skill, data, error } = setting();
    skill("abc");
    expect((await data("compose", { skill_names: ["abc", "abd"] })).missing).toEqual([{ name: "abd", near: ["abc"] }]);
    expect((await error("compose", { skill_names: ["abd"] })).code).toBe("not_found");
    expect((await error("compose", { skill_names: ["abc", "abc"] })).code).toBe("invalid_input");
  });
});

describe("search", () => {
  it("search-1", async () => {
    const { skill, data } = setting();
    skill("x", "", "Renew the kerberos ticket.");
    const { results } = await data("search", { query: "kerberos" });
    expect(results).toMatchObject([
      { asset: { name: "x" }, matched: ["body"], snippet: expect.stringContaining("kerberos") },
    ]);
  });
  it("search-2", async () => {
    const { skill, role, data } = setting();
    skill("x");
    role("r1", "skills: [x]");
    role("r2", "skills: [x]");
    const { results } = await data("search", { query: "x", type: "skill" });
    expect(results).toMatchObject([{ asset: { name: "x", owners: ["r1", "r2"] } }]);
  });
  it("search-3", async () => {
    const { skill, data } = setting();
    skill("early");
    await data("search", { query: "early" });
    skill("late");
    expect(found(await data("search", { query: "late" }))).toEqual(["late"]);
  });
  it("search-4", async () => {
    const { skill, data } = setting();
    skill("x", "", "连接数据库的池");
    expect(found(await data("search", { query: "数据库" }))).toEqual(["x"]);
    for (const query of ["据", "池", "连", "的池"])
      expect(found(await data("search", { query })), query).toEqual(["x"]);
    expect(found(await data("search", { query: "数据池" }))).toEqual([]);
  });
  it("search-5", async () => {
    const { skill, data } = setting();
    skill("x");
    expect(await data("search", { query: 'x AND "y* (' })).toMatchObject({ results: [], total: 0 });
  });
  it("search-6", async () => {
    const { skill, data } = setting();
    skill("git");
    skill("git-release");
    skill("other", "", "git ".repeat(50));
    expect(found(await data("search", { query: "git" }))[0]).toBe("git");
    expect(found(await data("search", { query: "git" }))).toHaveLength(3);
  });
  it("search-7", async () => {
    const { skill, data } = setting();
    skill("one", "", "alpha");
    skill("two", "", "beta");
    const { results, total, near } = await data("search", { query: "alpha beta" });
    expect({ results, total }).toEqual({ results: [], total: 0 });
    expect(near.map(({ name }: { name: string }) => name).sort()).toEqual(["one", "two"]);
  });
  it("search-8", async () => {
    const { skill, data, error } = setting();
    for (let i = 0; i < 120; i++) skill(`s${i}`, "", "common");
    const names: string[] = [];
    const sizes: number[] = [];
    let cursor: string | undefined;
    let last: string | undefined;
    do {
      const page = await data("search", { query: "common", limit: 50, ...(cursor !== undefined && { cursor }) });
      names.push(...found(page));
      sizes.push(page.results.length);
      cursor = page.nextCursor;
      last = cursor ?? last;
    } while (cursor !== undefined);
    expect(sizes).toEqual([50, 50, 20]);
    expect(new Set(names).size).toBe(120);
    skill("added");
    expect(await error("search", { query: "common", limit: 50, cursor: last })).toMatchObject({
      code: "invalid_input",
      message: expect.stringContaining("catalog changed, search again"),
    });
  });
});

describe("reference", () => {
  const lines = (count: number, hits: readonly number[]) =>
    Array.from({ length: count }, (_, i) => (hits.includes(i + 1) ? "a needle here" : `line ${i + 1}`)).join("\n");
  const made = (text: string | Uint8Array, name = "a.md") => {
    const one = setting();
    one.role("r");
    one.ref(`r/${name}`, text);
    return one;
  };
  it("reference-1", async () => {
    const { data } = made(lines(20, [10, 12]));
    const { results, hits } = await data("refs", { query: "needle" });
    expect(hits).toBe(2);
    expect(results[0].windows).toMatchObject([{ startLine: 8 }]);
    expect(results[0].windows[0].lines.map(({ line }: { line: number }) => line)).toEqual([8, 9, 10, 11, 12, 13, 14]);
    expect(results[0].windows[0].lines.filter(({ hit }: { hit: boolean }) => hit)).toHaveLength(2);
  });
  it("reference-2", async () => {
    const { data, ref } = made(lines(40, [5]));
    ref(
      "r/z.md",
      lines(
        40,
        Array.from({ length: 20 }, (_, i) => i * 2 + 1),
      ),
    );
    const page = await data("refs", { query: "needle", limit: 10 });
    expect(page.results[0].asset.path).toContain("z.md");
    expect(page.hits).toBe(21);
    const next = await data("refs", { query: "needle", limit: 50, cursor: page.nextCursor });
    const hitLines = (data: typeof page) =>
      data.results.flatMap(({ asset, windows }: any) =>
        windows.flatMap((w: any) => w.lines.filter((l: any) => l.hit).map((l: any) => `${asset.path}:${l.line}`)),
      );
    expect(new Set([...hitLines(page), ...hitLines(next)]).size).toBe(21);
    expect(hitLines(page)).toHaveLength(10);
  });
  it("reference-3", async () => {
    const { data, link, call } = made("needle");
    link(".agents/roles/r/references/b.md", "gone.md");
    const { results, unreadable } = await data("refs", { query: "needle" });
    expect(results).toHaveLength(1);
    expect(unreadable).toMatchObject([
      { path: expect.stringContaining("b.md"), reason: expect.stringContaining("nowhere") },
    ]);
    expect((await call("refs", { query: "needle" })).text).toMatch(/1 file not read[\s\S]*Not read: .*b\.md/);
  });
  it("reference-4", async () => {
    const { data } = made(`${"x".repeat(500_000)}needle${"x".repeat(499_994)}`);
    const { results } = await data("refs", { query: "needle" });
    const [line] = results[0].windows[0].lines;
    expect(line).toMatchObject({ cut: true, hit: true, columns: [{ start: 500_000, end: 500_006 }] });
    expect([...line.text].length).toBeLessThanOrEqual(400);
    expect(line.text).toContain("needle");
  });
  it("reference-5", async () => {
    const { data } = made("cafe\u0301 bar");
    const { results } = await data("refs", { query: "café" });
    expect(results[0].windows[0].lines[0].columns).toEqual([{ start: 0, end: 5 }]);
  });
  it("reference-6", async () => {
    const { data } = made(lines(30, [10, 15]));
    const { results } = await data("refs", { query: "needle", context_lines: 2 });
    expect(results[0].windows).toHaveLength(1);
    expect(results[0].windows[0].lines.map(({ line }: { line: number }) => line)).toEqual([
      8, 9, 10, 11, 12, 13, 14, 15, 16, 17,
    ]);
  });
  it("reference-7", async () => {
    const { data, ref } = made("needle");
    ref("r/gbk.md", new Uint8Array([0xc4, 0xe3, 0xba, 0xc3]));
    ref("r/nul.md", "a\0needle");
    const { results, unreadable } = await data("refs", { query: "needle" });
    expect(results).toHaveLength(1);
    expect(
      unreadable.map(({ path, reason }: { path: string; reason: string }) => [path.split("/").at(-1), reason]),
    ).toEqual([
      ["gbk.md", "not UTF-8"],
      ["nul.md", "binary"],
    ]);
  });
});

describe("inspect", () => {
  const twins = () => {
    const made = setting();
    made.role("dev");
    made.role("qa");
    made.fn("dev/plan", "", "Of dev.");
    made.fn("qa/plan", "", "Of qa.");
    return made;
  };
  it("inspect-1", async () => {
    const { message, code } = await twins().error("inspect", { name: "plan", type: "function" });
    expect(code).toBe("conflict");
    expect(message).toMatch(
      /function:\.agents\/roles\/dev\/functions\/plan\.md \(role dev, root \.agents\).*function:\.agents\/roles\/qa\/functions\/plan\.md \(role qa/,
    );
  });
  it("inspect-2", async () => {
    const { data } = twins();
    for (const role of ["dev", "qa"]) {
      const id = `function:.agents/roles/${role}/functions/plan.md`;
      expect((await data("inspect", { name: id, type: "function" })).content.text).toBe(`Of ${role}.`);
    }
    expect((await data("inspect", { name: "plan", type: "function", role_id: "qa" })).content.text).toBe("Of qa.");
  });
  it("inspect-3", async () => {
    const { skill, file, data } = setting();
    skill("x");
    file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: other\n---\n");
    const shown = await data("inspect", { name: "x", type: "skill" });
    expect(shown.asset.root).toBe(".agents");
    expect(shown.candidates).toMatchObject([{ id: "skill:.claude/skills/x/SKILL.md" }]);
  });
  it("inspect-4", async () => {
    const { fn, error } = setting();
    fn("plan");
    expect(await error("inspect", { name: "Plan", type: "function" })).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("plan"),
    });
  });
  it("inspect-5", async () => {
    const { skill, data } = setting();
    const body = Array.from({ length: 30_000 }, (_, i) => (i % 7 === 6 ? "👍" : "a")).join("");
    skill("x", "", body);
    let joined = "";
    let offset: number | undefined = 0;
    while (offset !== undefined) {
      const { content }: { content: { text: string; nextOffset?: number } } = await data("inspect", {
        name: "x",
        type: "skill",
        offset,
        max_chars: 6_999,
      });
      joined += content.text;
      offset = content.nextOffset;
    }
    expect(joined).toBe(body);
  });
});

describe("front", () => {
  it("front-1", async () => {
    const { skill, file, data } = setting();
    file(".agents/skills/forms/SKILL.md", "---\nname: forms\ndescription: Use when: filling\n---\n");
    skill("good");
    expect((await data("search", { query: "forms" })).results).toMatchObject([
      { asset: { name: "forms", status: "broken" } },
    ]);
    const { issues } = await data("validate");
    expect(issues).toMatchObject([{ rule: "yaml_invalid", asset: { name: "forms" }, line: 3, column: 14 }]);
    expect((await data("search", { query: "good" })).results).toMatchObject([{ asset: { status: "ok" } }]);
  });
  it("front-2", async () => {
    const { file, data } = setting();
    file(".agents/skills/x/SKILL.md", "\ufeff---\r\nname: x\r\ndescription: about x\r\n---\r\nBody\r\n");
    const shown = await data("inspect", { name: "x", type: "skill" });
    expect(shown).toMatchObject({
      asset: { description: "about x", status: "ok" },
      issues: [],
      content: { text: "Body\r\n" },
    });
  });
  it("front-3", async () => {
    const { file, data } = setting();
    file(".agents/skills/x/SKILL.md", "---js\nglobalThis.assetsHacked = true\n---\nx\n");
    const { issues } = await data("validate");
    expect(rules({ issues })).toEqual(["frontmatter_missing"]);
    expect((await data("inspect", { name: "x", type: "skill" })).asset.status).toBe("broken");
    expect("assetsHacked" in globalThis).toBe(false);
  });
  it("front-4", async () => {
    const { file, data } = setting();
    file(".agents/skills/a/SKILL.md", "---");
    file(".agents/skills/b/SKILL.md", "# no header\n");
    file(".agents/skills/c/SKILL.md", "");
    file(".agents/skills/d/SKILL.md", Buffer.alloc(30 * 1024 * 1024, "a"));
    const { issues, checked } = await data("validate");
    expect(checked.skill).toBe(4);
    expect(issues.map(({ asset, message }: any) => [asset.name, message]).sort()).toEqual([
      ["a", expect.stringContaining("never closed")],
      ["b", expect.stringContaining("does not begin")],
      ["c", expect.stringContaining("empty")],
      ["d", expect.stringContaining("31457280")],
    ]);
  });
});

describe("links", () => {
  it("links-1", async () => {
    const { file, link, data } = setting();
    file("shared/x/SKILL.md", "---\nname: x\ndescription: about x\n---\n");
    link(".claude/skills/x", "../../shared/x");
    expect(found(await data("search", { query: "x" }))).toEqual(["x"]);
  });
  it("links-2", async () => {
    const { skill, link, data } = setting();
    skill("x");
    link(".claude/skills/x", "../../.agents/skills/x");
    expect(found(await data("search", { query: "x" }))).toEqual(["x"]);
    expect((await data("inspect", { name: "x", type: "skill" })).asset.aliases).toEqual([".claude/skills/x/SKILL.md"]);
  });
  it("links-3", async () => {
    const { skill, link, data, error } = setting();
    skill("x");
    link(".agents/skills/x/references/h", "/etc");
    expect((await data("list", { skill_id: "x" })).files.map(({ path }: { path: string }) => path)).toEqual([
      "SKILL.md",
    ]);
    expect((await error("read", { skill_id: "x", path: "references/h/hostname" })).code).toBe("denied");
    expect(rules(await data("validate"))).toContain("link_outside");
  });
  it("links-4", async () => {
    const { skill, link, data } = setting();
    skill("a");
    link(".agents/skills/loop", "../skills");
    const page = await data("search", { query: "about" });
    expect(found(page)).toEqual(["a"]);
    expect(page.notes.join()).toContain("loop");
  });
  it("links-5", async () => {
    const { skill, file, data } = setting();
    skill("x");
    file(".claude/skills/x/SKILL.md", "---\nname: x\ndescription: about x, too\n---\n");
    expect((await data("search", { query: "x" })).results).toMatchObject([{ asset: { root: ".agents" } }]);
    const other = await data("inspect", { name: "skill:.claude/skills/x/SKILL.md", type: "skill" });
    expect(other.asset.shadowedBy).toBe("skill:.agents/skills/x/SKILL.md");
    expect((await data("validate")).issues).toMatchObject([{ rule: "shadowed", severity: "warning" }]);
  });
});

describe("files", () => {
  it("files-1", async () => {
    const { skill, error } = setting();
    skill("pdf");
    skill("pdf-secret");
    expect((await error("read", { skill_id: "pdf", path: "../pdf-secret/SKILL.md" })).code).toBe("denied");
  });
  it("files-2", async () => {
    const { skill, file, data } = setting();
    skill("pdf");
    file(".agents/skills/pdf/references/..notes.md", "notes");
    expect((await data("read", { skill_id: "pdf", path: "references/..notes.md" })).content.text).toBe("notes");
  });
  it("files-3", async () => {
    const { skill, file, data, error } = setting();
    skill("pdf");
    const png = Buffer.from(
      "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
      "base64",
    );
    file(".agents/skills/pdf/assets/logo.png", png);
    expect(await error("read", { skill_id: "pdf", path: "assets/logo.png" })).toMatchObject({
      code: "unsupported",
      message: expect.stringContaining(`${png.length} bytes`),
    });
    expect((await data("list", { skill_id: "pdf" })).files).toContainEqual({
      path: "assets/logo.png",
      bytes: png.length,
      kind: "asset",
      text: false,
    });
  });
  it.each(["/etc/hostname", "references\\x", "a\u0000b", "a/../../x", ""])("files-4 %j", async (path) => {
    const { skill, error } = setting();
    skill("x");
    expect(["denied", "invalid_input"]).toContain((await error("read", { skill_id: "x", path })).code);
  });
});

describe("cells", () => {
  it("cells-1", async () => {
    const { file, call } = setting();
    file(".agents/skills/x/SKILL.md", '---\nname: x\ndescription: "a | b\\nc `d"\n---\n');
    const { text } = await call("search", { query: "x" });
    const { marked } = await import("marked");
    const table = marked.lexer(text).find(({ type }) => type === "table");
    const rows = table && "rows" in table ? (table.rows as { tokens: { type: string; text: string }[] }[][]) : [];
    expect(rows).toHaveLength(1);
    expect(rows[0]).toHaveLength(4);
    expect(rows[0]?.[3]?.tokens.map((token) => token.text).join("")).toBe("a | b c `d");
  });
});
