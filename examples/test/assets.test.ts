import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { prepare, show } from "../assets/main.ts";

it("assets: finds a skill, repairs a broken one, changes one and brings it back", async () => {
  const directory = prepare();
  try {
    const [search, before, fixed, patched, restored] = await show(directory);
    expect(search).toContain("| release | skill |");
    expect(before).toContain("yaml_invalid");
    expect(fixed).toContain("0 errors");
    expect(patched).toContain("Patched release: version 1 → 2, strategy exact");
    expect(restored).toContain("Rolled back release: version 2 → 3, as version 1");
    expect(readFileSync(join(directory, ".agents/skills/pdf-forms/SKILL.md"), "utf8")).toContain(
      'description: "Use when: filling PDF forms"',
    );
    expect(readFileSync(join(directory, ".agents/skills/release/SKILL.md"), "utf8")).toContain("Run the tests first.");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
