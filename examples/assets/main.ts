// Find a skill, see what is wrong with another, repair it, and keep its history: npx tsx examples/assets/main.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createAssets } from "@toolhaft/assets";
import { createContext } from "@toolhaft/core";

/** A folder with a sound skill and one whose header does not parse. */
export function prepare(): string {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-assets-"));
  const skill = (name: string, description: string): void => {
    mkdirSync(join(directory, ".agents/skills", name), { recursive: true });
    writeFileSync(
      join(directory, ".agents/skills", name, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${description}\n---\n# ${name}\n\nRun the tests first.\n`,
    );
  };
  skill("release", "Cut a release and publish it");
  skill("pdf-forms", "Use when: filling PDF forms");
  return directory;
}

/** Every question is answered with yes: here the program itself is the person. */
export async function show(directory: string): Promise<string[]> {
  await using assets = createAssets({ evolve: true });
  const context = createContext({ directory, asker: async () => ({ allow: true }) });
  const texts: string[] = [];
  const call = async (name: string, input: unknown): Promise<void> => {
    const result = await assets.tools.find((tool) => tool.name === name)?.call(input, context);
    texts.push(`${name} ${JSON.stringify(input)}\n${result?.text}`);
  };
  await call("asset_search", { query: "publish" });
  await call("asset_validate", {});
  await call("asset_validate", { fix: true });
  await call("skill_evolve_patch", {
    name: "release",
    old_string: "Run the tests first.",
    new_string: "Run all tests first.",
    changelog: "one package was forgotten",
  });
  await call("skill_evolve_rollback", { name: "release" });
  return texts;
}

if (process.argv[1] === import.meta.filename) {
  const directory = prepare();
  try {
    for (const text of await show(directory)) console.log(`${text}\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
