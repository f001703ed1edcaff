// biome-ignore-all lint/suspicious/noExplicitAny: the shapes of many answers are read here
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSkill } from "@toolhaft/asset-format";
import { changedPaths, snapshotOf } from "@toolhaft/testing";
import { validate } from "skills-ref";
import { expect, it, onTestFinished } from "vitest";
import { directoryCatalog } from "../src/index.ts";
import { makeCorpus, writeCorpus } from "./corpus.ts";
import { found, setting, temporaryFolder } from "./setting.ts";

const corpus = makeCorpus(240);

it("240 skill folders, broken ones among them, are found, searched, checked and repaired", async () => {
  const { data, path, tree, directory } = setting();
  const outside = temporaryFolder();
  writeFileSync(join(outside, "secret.txt"), "unique-secret-outside");
  writeCorpus(path(".agents/skills"), corpus);
  const { family } = setting({ directory });
  const { assets } = await family.catalog.list({ type: "skill" });
  expect(assets.map(({ name }) => name).sort()).toEqual(corpus.map(({ folder }) => folder).sort());
  // What can be read is found by its word, broken or not.
  for (const { word, folder, rule } of corpus.filter((_, i) => i % 6 === 3 || i % 8 === 3)) {
    const hits = found(await data("search", { query: word, type: "skill" }));
    expect(hits, `${folder} ${rule}`).toEqual(
      rule === "not_text" || corpus.find((one) => one.word === word)?.files["SKILL.md"] === "" ? [] : [folder],
    );
  }
  const before = tree();
  const pages: any[] = [];
  let cursor: string | undefined;
  do {
    const page = await data("validate", { limit: 500, ...(cursor !== undefined && { cursor }) });
    pages.push(...page.issues);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  expect(tree()).toEqual(before);
  for (const { folder, rule } of corpus) {
    const own = pages.filter(
      ({ asset }) => asset.name === folder && asset.type === "skill" && asset.path.includes(`/${folder}/`),
    );
    if (rule === undefined)
      expect(
        own.filter(({ severity }) => severity === "error"),
        folder,
      ).toEqual([]);
    else
      expect(
        own.map((issue) => issue.rule),
        folder,
      ).toContain(rule);
  }
  const repaired = await data("validate", { fix: true, limit: 500 });
  const fixable = corpus.filter((one) => one.fixable);
  const fixedFiles = new Set(repaired.fixed.map(({ file }: any) => file));
  for (const { folder } of fixable) expect(fixedFiles, folder).toContain(`.agents/skills/${folder}/SKILL.md`);
  expect(changedPaths(before, tree()).sort()).toEqual([...fixedFiles].sort());
  const after = await data("validate", { limit: 500 });
  const key = ({ rule, file }: any): string => `${rule} ${file}`;
  const left = new Set(after.issues.map(key));
  for (const one of repaired.fixed) expect(left.has(key(one)), key(one)).toBe(false);
  expect(after.fixable).toBe(0);
  expect((await data("validate", { fix: true, limit: 500 })).fixed).toEqual([]);
  expect([...snapshotOf(outside).keys()]).toEqual(["secret.txt"]);
}, 240_000);

it("what the reference validator accepts is accepted, and what it rejects is reported, host keys apart", async () => {
  const root = temporaryFolder();
  writeCorpus(root, corpus);
  // Its own limits: keys of hosts, YAML subsets, folders in decomposed letters.
  const ours = [
    "unknown_key",
    "tool_rule_syntax",
    "metadata_not_text",
    "permission_contradiction",
    "injection",
    "dead_link",
    "not_text",
  ];
  let compared = 0;
  for (const { folder, files, rule } of corpus) {
    const content = files["SKILL.md"];
    if (typeof content !== "string" || (rule !== undefined && ours.includes(rule))) continue;
    if (/^(?:model|argument-hint|disallowed-tools|version):|^\ufeff/m.test(content)) continue;
    const theirs = await validate(join(root, folder));
    const errors = parseSkill(content, folder).problems.filter(({ severity }) => severity === "error");
    expect(
      errors.length > 0,
      `${folder}: ${theirs.join("; ")} / ${errors.map(({ message }) => message).join("; ")}`,
    ).toBe(theirs.length > 0);
    compared++;
  }
  expect(compared).toBeGreaterThan(60);
}, 120_000);

it("an unreadable file and an unreadable root are notes, and nothing else is lost", async (test) => {
  if (process.getuid?.() === 0) test.skip("root reads everything");
  const { skill, data, path } = setting();
  skill("good");
  skill("locked");
  chmodSync(path(".agents/skills/locked/SKILL.md"), 0);
  mkdirSync(path(".claude/skills"), { recursive: true });
  chmodSync(path(".claude"), 0);
  const page = await data("search", { query: "good" });
  expect(found(page)).toEqual(["good"]);
  expect(page.notes.join()).toContain(".claude");
  chmodSync(path(".claude"), 0o755);
});

it("the repository's own skills are clean", async () => {
  const repository = fileURLToPath(new URL("../../../", import.meta.url));
  const catalog = directoryCatalog(undefined, {
    directory: repository,
    indexPath: join(temporaryFolder(), "assets.db"),
  });
  onTestFinished(() => catalog.close());
  const { data } = setting({ catalog }, repository);
  const checked = await data("validate", { limit: 500 });
  expect(checked.checked.skill).toBeGreaterThanOrEqual(6);
  expect(checked.issues).toEqual([]);
});
