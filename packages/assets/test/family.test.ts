import { readFileSync } from "node:fs";
import { checkReadmeExample, type Files, type ToolFixtures, testFamily } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { createAssets } from "../src/index.ts";

const files: Files = {
  ".agents/skills/pdf-forms/SKILL.md":
    "---\nname: pdf-forms\ndescription: Fill PDF forms\nallowed-tools: Read Bash(pdftk:*)\n---\n# PDF forms\nRead [the guide](references/guide.md).\n",
  ".agents/skills/pdf-forms/references/guide.md": "# Guide\nretry policy: three times\n",
  ".agents/skills/release/SKILL.md": "---\nname: release\ndescription: Cut a release\n---\n# Release\n",
  ".agents/roles/dev/role.yaml": "name: dev\nprompt: p\nskills: [release]\n",
  ".agents/roles/dev/functions/plan.md": "---\ndescription: Plan the work\n---\nPlan.\n",
};
const yes = { context: { asker: async () => ({ allow: true }) as const }, files } satisfies Partial<ToolFixtures>;
const fixable = { ...files, ".agents/skills/bad-name/SKILL.md": "---\nname: bad_name\ndescription: d\n---\n" };

testFamily({
  make: () => createAssets({ evolve: true }),
  golden: new URL("./golden/", import.meta.url),
  tools: {
    asset_search: {
      files,
      valid: [
        {
          title: "words",
          input: { query: "pdf form" },
          check: (result) => expect(result.text).toContain("| pdf-forms | skill |"),
        },
        { title: "nothing found", input: { query: "zebra" } },
      ],
      invalid: [
        { title: "blanks", input: { query: "   " } },
        { title: "501 characters", input: { query: "a".repeat(501) } },
        { title: "limit 0", input: { query: "a", limit: 0 } },
        { title: "limit 51", input: { query: "a", limit: 51 } },
        { title: "limit 1.5", input: { query: "a", limit: 1.5 } },
        { title: "unknown role", input: { query: "a", role_id: "devv" }, code: "not_found", text: "dev" },
        { title: "role outside", input: { query: "a", role_id: "../x" }, code: "not_found" },
        { title: "made-up cursor", input: { query: "a", cursor: "zzz" } },
      ],
      finer: ["query"],
    },
    asset_inspect: {
      files,
      valid: [
        {
          title: "a skill",
          input: { name: "pdf-forms", type: "skill" },
          check: (result) => expect(result.text).toContain("**Tools:** +Read +Bash(pdftk:*)"),
        },
        { title: "a function", input: { name: "plan", type: "function" } },
        { title: "a role", input: { name: "dev", type: "role" } },
        { title: "a reference", input: { name: "pdf-forms/guide", type: "reference" } },
      ],
      invalid: [
        { title: "unknown", input: { name: "pdf-form", type: "skill" }, code: "not_found", text: "pdf-forms" },
        { title: "past the end", input: { name: "pdf-forms", type: "skill", offset: 9_999 }, text: "past the end" },
        { title: "no name", input: { name: "", type: "skill" } },
      ],
      finer: ["name", "offset"],
    },
    asset_validate: {
      ...yes,
      valid: [
        { title: "without fix", input: {}, check: (result) => expect(result.text).toContain("0 errors, 0 warnings") },
        {
          title: "with fix",
          input: { fix: true },
          files: fixable,
          check: (result) => expect(result.text).toContain("Fixed 2"),
        },
      ],
      invalid: [
        { title: "limit", input: { limit: 501 } },
        { title: "unknown role", input: { role_id: "nobody" }, code: "not_found" },
      ],
    },
    asset_hot_reload: {
      files,
      valid: [
        { title: "everything", input: {} },
        { title: "one skill", input: { type: "skill", name: "pdf-forms", dry_run: true } },
      ],
      invalid: [{ title: "unknown", input: { type: "skill", name: "nothing-like-it" }, code: "not_found" }],
      finer: ["name"],
    },
    skill_compose: {
      files,
      valid: [{ title: "two skills", input: { skill_names: ["pdf-forms", "release"] } }],
      invalid: [
        { title: "none", input: { skill_names: [] } },
        { title: "51", input: { skill_names: Array.from({ length: 51 }, (_, i) => `s${i}`) } },
        { title: "twice", input: { skill_names: ["release", "release"] } },
        { title: "all unknown", input: { skill_names: ["zzz"] }, code: "not_found" },
      ],
      finer: ["skill_names", "skill_names[]"],
    },
    reference_search: {
      files,
      valid: [
        {
          title: "a hit",
          input: { query: "retry" },
          check: (result) => expect(result.text).toContain("> 2| **retry** policy"),
        },
      ],
      invalid: [
        { title: "two lines", input: { query: "a\nb" } },
        { title: "blank", input: { query: " " } },
        { title: "context", input: { query: "a", context_lines: 11 } },
      ],
      finer: ["query"],
    },
    list_skill_files: {
      files,
      valid: [{ title: "a skill", input: { skill_id: "pdf-forms" } }],
      invalid: [{ title: "unknown", input: { skill_id: "pdf-from" }, code: "not_found", text: "pdf-forms" }],
      finer: ["skill_id"],
    },
    read_skill_file: {
      files,
      valid: [{ title: "a reference", input: { skill_id: "pdf-forms", path: "references/guide.md" } }],
      invalid: [
        {
          title: "unknown file",
          input: { skill_id: "pdf-forms", path: "references/giude.md" },
          code: "not_found",
          text: "references/guide.md",
        },
        { title: "outside", input: { skill_id: "pdf-forms", path: "../release/SKILL.md" }, code: "denied" },
      ],
      finer: ["skill_id", "path"],
    },
    skill_read_file: {
      files,
      valid: [{ title: "a reference", input: { skill: "pdf-forms", file: "references/guide.md" } }],
      invalid: [{ title: "a folder", input: { skill: "pdf-forms", file: "references" } }],
      finer: ["skill", "file"],
    },
    skill_evolve_create: {
      ...yes,
      valid: [
        { title: "a skill", input: { name: "fresh", manifest: { description: "Something new" }, body: "# Fresh\n" } },
      ],
      invalid: [
        { title: "no description", input: { name: "fresh", manifest: {} } },
        { title: "bad name", input: { name: "Fresh", manifest: { description: "d" } } },
      ],
      finer: ["name", "manifest", "body", "changelog"],
      unsupported: ["anthropic-strict", "openai-strict"],
    },
    skill_evolve_update: {
      ...yes,
      valid: [{ title: "new text", input: { name: "release", body: "# New\n" } }],
      invalid: [{ title: "second header", input: { name: "release", body: "---\na: b\n---\n" } }],
      finer: ["name", "body", "changelog"],
    },
    skill_evolve_patch: {
      ...yes,
      valid: [{ title: "a heading", input: { name: "release", old_string: "# Release", new_string: "# Releases" } }],
      invalid: [
        {
          title: "not there",
          input: { name: "release", old_string: "# Nothing of it", new_string: "x" },
          code: "conflict",
        },
      ],
      finer: ["name", "old_string", "new_string", "changelog"],
    },
    skill_evolve_delete: {
      ...yes,
      valid: [{ title: "a skill", input: { name: "pdf-forms" } }],
      invalid: [{ title: "unknown", input: { name: "zzz" }, code: "not_found" }],
      finer: ["name", "changelog"],
    },
    skill_evolve_rollback: {
      ...yes,
      prepare: async ({ call }) => void (await call("skill_evolve_update", { name: "release", body: "# Two\n" })),
      valid: [{ title: "one step", input: { name: "release" } }],
      invalid: [{ title: "no such version", input: { name: "release", version: 9 }, code: "not_found" }],
      finer: ["name", "changelog"],
    },
    skill_evolve_write_file: {
      ...yes,
      valid: [{ title: "a reference", input: { skill: "release", path: "references/new.md", body: "text\n" } }],
      invalid: [{ title: "outside the folders", input: { skill: "release", path: "new.md", body: "text\n" } }],
      finer: ["skill", "path", "body", "changelog"],
    },
    skill_evolve_remove_file: {
      ...yes,
      valid: [{ title: "a reference", input: { skill: "pdf-forms", path: "references/guide.md" } }],
      invalid: [
        {
          title: "unknown",
          input: { skill: "pdf-forms", path: "references/none.md" },
          code: "not_found",
          text: "references/guide.md",
        },
      ],
      finer: ["skill", "path", "changelog"],
    },
  },
});

it(
  "the README's example compiles and prints what the README says",
  () => checkReadmeExample(new URL("../README.md", import.meta.url)),
  300_000,
);

it("importing loads neither SQLite nor chokidar", () => {
  for (const file of [
    "assets.ts",
    "desk.ts",
    "stores/directory/catalog.ts",
    "stores/directory/index-file.ts",
    "stores/directory/watch.ts",
    "evolve/skill-store.ts",
  ]) {
    const text = readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8");
    expect(text, file).not.toMatch(/^import (?!type )[^;]*"(?:@toolhaft\/sqlite|chokidar)"/m);
  }
});
