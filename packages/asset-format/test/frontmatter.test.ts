import { describe, expect, it } from "vitest";
import { parseFrontmatter, parseFunction, parseRole, parseSkill } from "../src/index.ts";

const skill = (lines: string, body = "# x\n") =>
  parseSkill(`---\nname: x\ndescription: about x\n${lines}---\n${body}`, "x");
const rules = ({ problems }: { problems: { rule: string }[] }) => problems.map(({ rule }) => rule);

describe("frontmatter", () => {
  it("is read with BOM and CRLF", () => {
    const parsed = parseSkill("\ufeff---\r\nname: x\r\ndescription: about x\r\n---\r\nBody\r\n", "x");
    expect(parsed.problems).toEqual([]);
    expect(parsed.value).toMatchObject({ name: "x", description: "about x", body: "Body\r\n" });
  });
  it.each([
    ["duplicate key", "name: y\n", 4, 1],
    ["unknown tag", "license: !thing a\n", 4, 10],
    ["unquoted colon", "license: a: b\n", 4, 10],
    ["a tab for indent", "metadata:\n\tk: v\n", 5, 1],
  ])("%s is an error with line and column", (_, lines, line, column) => {
    const { problems, value } = skill(lines);
    expect(value).toBeUndefined();
    expect(problems[0]).toMatchObject({ rule: "yaml_invalid", line, column });
  });
  it("counts aliases, depth and bytes", () => {
    const aliases = (count: number) =>
      `metadata:\n  a: &a x\n${Array.from({ length: count }, (_, i) => `  k${i}: *a\n`).join("")}`;
    expect(skill(aliases(50)).problems).toEqual([]);
    expect(skill(aliases(51)).problems[0]?.message).toContain("aliases");
    const deep = (levels: number) => `hooks: ${"[".repeat(levels)}${"]".repeat(levels)}\n`;
    expect(skill(deep(19)).problems).toEqual([]);
    expect(skill(deep(20)).problems[0]?.message).toContain("deeper");
    expect(skill(`license: ${"x".repeat(65_536)}\n`).problems[0]?.message).toContain("65536");
  });
  it("an alias bomb ends at once with its reason", () => {
    let lines = "hooks:\n  a0: &a0 [x, x]\n";
    for (let i = 1; i < 24; i++)
      lines += `  a${i}: &a${i} [${Array(9)
        .fill(`*a${i - 1}`)
        .join(", ")}]\n`;
    const parsed = skill(lines);
    expect(parsed.value).toBeUndefined();
    expect(parsed.problems[0]?.message).toContain("aliases");
  });
  it.each([
    ["empty", "", "empty"],
    ["only the opening", "---\n", "never closed"],
    ["only three dashes", "---", "never closed"],
    ["none", "# hello\n", "does not begin"],
    ["another language", "---js\nglobalThis.hacked = 1\n---\n", "---js"],
    ["a list", "---\n- a\n---\n", "no map"],
    ["nothing between", "---\n---\n", "no map"],
    ["a word", "---\nhello\n---\n", "no map"],
  ])("%s is broken and says so", (_, text, message) => {
    const parsed = parseSkill(text, "x");
    expect(parsed.value).toBeUndefined();
    expect(parsed.problems[0]?.message).toContain(message);
    expect(parsed.problems[0]).toMatchObject({ severity: "error", line: expect.any(Number), column: 1 });
  });
  it("never runs what stands in it", () => {
    parseSkill("---js\nglobalThis.assetFormatHacked = 1\n---\n", "x");
    expect("assetFormatHacked" in globalThis).toBe(false);
  });
  it("tells where a value stands, in code points of its line", () => {
    const head = parseFrontmatter("---\nname: x\nmetadata:\n  '👍': v\n---\n");
    expect(head.locate(["metadata", "👍"])).toEqual({ line: 4, column: 8 });
    expect(head.locate(["metadata", "gone"])).toEqual({ line: 4, column: 3 });
  });
});

describe("skills", () => {
  it("keeps every key of the format", () => {
    const { value, problems } = skill(
      "license: MIT\ncompatibility: needs git\nmetadata:\n  tags: a, b\n  v: '1'\nallowed-tools: Read Bash(git *)\ndisallowed-tools: [Write]\nmodel: fast\nhooks: {}\n",
    );
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      license: "MIT",
      compatibility: "needs git",
      metadata: { tags: "a, b", v: "1" },
      tags: ["a", "b"],
      allowedTools: [{ tool: "read" }, { tool: "bash", spec: "git *" }],
      disallowedTools: [{ tool: "write" }],
      host: { model: "fast", hooks: {} },
    });
  });
  it("metadata that is no text is shown as written", () => {
    const parsed = skill("metadata:\n  version: 1.0\n");
    expect(rules(parsed)).toEqual(["metadata_not_text"]);
    expect(parsed.value?.metadata).toEqual({ version: "1.0" });
  });
  it.each([
    ["Upper", "name_format"],
    ["a--b", "name_format"],
    ["-a", "name_format"],
    ["a_b", "name_format"],
    ["a".repeat(65), "name_format"],
    ["größe", "name_not_portable"],
    ["技能", "name_not_portable"],
  ])("name %s: %s", (name, rule) => {
    expect(rules(parseSkill(`---\nname: ${name}\ndescription: d\n---\n`, name))).toEqual([rule]);
  });
  it.each(["a", "a1", "1a", "pdf-forms", "a".repeat(64)])("name %s is fine", (name) => {
    expect(parseSkill(`---\nname: ${name}\ndescription: d\n---\n`, name).problems).toEqual([]);
  });
  it.each([
    ["description:\n", "description_missing"],
    ["description: ''\n", "description_missing"],
    [`description: ${"d".repeat(1_025)}\n`, "description_length"],
    [`description: d\ncompatibility: ${"c".repeat(501)}\n`, "compatibility_length"],
    ["description: d\nallowed_tools: Read\n", "unknown_key"],
    ["description: d\nallowed-tools: 'Bash(a'\n", "tool_rule_syntax"],
  ])("%#: %s", (lines, rule) => {
    expect(rules(parseSkill(`---\nname: x\n${lines}---\n`, "x"))).toEqual([rule]);
  });
  it("limits count code points", () => {
    expect(parseSkill(`---\nname: x\ndescription: ${"👍".repeat(1_024)}\n---\n`, "x").problems).toEqual([]);
  });
});

describe("functions", () => {
  const fn = (lines: string) => parseFunction(`---\n${lines}\n---\nDo {{a}}.\n`, "functions/plan.md");
  it("has the defaults of the format", () => {
    expect(fn("description: d").value).toMatchObject({
      name: "plan",
      priority: 50,
      continueMax: 5,
      stateSchemaVersion: 1,
      requires: [],
      transitions: [],
    });
  });
  it("reads every key", () => {
    const { value, problems } = fn(
      "name: go\nparams: [a, {name: b, default: 2}]\nphase: Build\npriority: 1\nrequires: plan other\nproduces: Plan v2\nconsumes: [p]\ngate: {all: [user_approval, {not: artifact_exists(p)}]}\ntransitions: [{when: gate, activate: [x], deactivate: y}]\ncontinue_until: turn_count(3)\ncontinue_max: 2\nrequires_evidence: [t]\nobserve: [{on: tool_after, tool: bash, when: gate, when_output: {contains: ok, not_contains: no}, set_evidence: t}]\nstate_schema_version: 2",
    );
    expect(problems).toEqual([]);
    expect(value).toMatchObject({
      name: "go",
      params: [{ name: "a" }, { name: "b", default: "2" }],
      label: "Build",
      requires: ["plan", "other"],
      produces: ["Plan v2"],
      transitions: [{ activate: ["x"], deactivate: ["y"] }],
      observe: [
        { on: "tool_after", tool: "bash", whenOutput: { contains: "ok", notContains: "no" }, setEvidence: "t" },
      ],
    });
  });
  it("handlers are kept, never run, and warned of", () => {
    const parsed = fn("handlers: {on_start: 'globalThis.x = 1'}");
    expect(rules(parsed)).toEqual(["handlers_ignored"]);
    expect(parsed.value?.handlers).toEqual({ on_start: "globalThis.x = 1" });
  });
  it("a bad condition has its line, column and what was expected", () => {
    const { problems, value } = fn('gate: "artifact_exists("');
    expect(problems).toMatchObject([{ rule: "condition_syntax", line: 2, column: 24 }]);
    expect(value?.gate?.ast).toBeUndefined();
    expect(fn("gate: {not: user_aproval}").problems).toMatchObject([
      { rule: "unknown_condition", line: 2, column: 13, hint: "did you mean user_approval?" },
    ]);
  });
});

describe("roles", () => {
  it("reads lists, inline functions, references and three levels of sub-roles, and refuses a fourth", () => {
    const text = `name: dev
prompt: "{env:HOME}"
skills: [a, b]
functions: [plan, {name: go, gate: user_approval, body: Do.}]
references: [guide.md, {name: api, path: api.md, description: The API}]
permission: {allow: "Read Grep", deny: [Bash], ask: []}
tools: {bash: false}
subagents:
  one:
    prompt: p
    subagents: {two: {prompt: p, subagents: {three: {prompt: p, subagents: {four: {prompt: p}}}}}}
`;
    const { value, problems } = parseRole(text, "dev");
    expect(value).toMatchObject({
      prompt: "{env:HOME}",
      skills: ["a", "b"],
      functions: ["plan"],
      inlineFunctions: [{ name: "go", body: "Do." }],
      references: [{ name: "guide", path: "guide.md" }, { name: "api" }],
      tools: { bash: false },
      subagents: [
        { id: "dev/one", subagents: [{ id: "dev/one/two", subagents: [{ id: "dev/one/two/three", subagents: [] }] }] },
      ],
    });
    expect(problems.map(({ message }) => message)).toEqual([expect.stringContaining("3 levels deep")]);
  });
  it("a role without prompt says so", () => {
    expect(rules(parseRole("name: a\n", "a"))).toEqual(["prompt_missing"]);
    expect(rules(parseRole("name: a\nprompt_file: p.md\n", "a"))).toEqual([]);
  });
});
