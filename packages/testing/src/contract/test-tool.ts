import { type AnyTool, type Family, profiles, ToolError, toJsonSchema } from "@toolhaft/core";
import { describe, expect, it } from "vitest";
import {
  checkAbortedBefore,
  checkAbortedDuring,
  checkDenied,
  checkInvalid,
  checkNoSecrets,
  checkRender,
  checkSchemaAgrees,
  checkValid,
} from "./checks.ts";
import type { MakeTools, Setting, ToolFixtures } from "./fixtures.ts";
import { checkGolden, checkNoStrayGolden } from "./golden.ts";
import { checkTwoProcesses, type ProcessModule } from "./processes.ts";
import { inSetting } from "./setting.ts";

/** One promise of the contract, tried on one tool. */
export interface ContractCase {
  title: string;
  run(): void | Promise<void>;
}

/**
 * The contract that every tool must pass, as cases: form, defaults, refusals, the gate before each effect, aborts,
 * rendering, secrets and hints.
 */
export function contractOf(tool: AnyTool, fixtures: ToolFixtures, make: MakeTools = () => [tool]): ContractCase[] {
  const { name } = tool;
  const cases: ContractCase[] = [];
  const add = (title: string, run: ContractCase["run"]): void => {
    cases.push({ title, run });
  };
  const during = (fixture: ToolFixtures["valid"][number], check: (setting: Setting) => Promise<void>) => () =>
    inSetting(make, name, fixtures, fixture, check);

  add("has fixtures: a valid call, and an invalid one where it has parameters", () => {
    expect(fixtures.valid.length).toBeGreaterThan(0);
    if (Object.keys(toJsonSchema(tool, "mcp").properties ?? {}).length > 0)
      expect(fixtures.invalid.length).toBeGreaterThan(0);
  });
  add("is described in every profile, or declared as one that cannot be", () => {
    const refused = profiles.filter((profile) => refuses(tool, profile));
    expect(refused.sort()).toEqual([...(fixtures.unsupported ?? [])].sort());
  });
  add("accepts what its schema says and says what it accepts", () => checkSchemaAgrees(tool, fixtures));
  add("renders every output that its schema describes", () => checkRender(tool));
  for (const fixture of fixtures.valid) {
    add(
      `valid: ${fixture.title}`,
      during(fixture, (setting) => checkValid(setting, fixture)),
    );
    add(
      `everything denied: ${fixture.title}`,
      during(fixture, (setting) => checkDenied(setting, fixture)),
    );
    add(
      `stopped before: ${fixture.title}`,
      during(fixture, (setting) => checkAbortedBefore(setting, fixture)),
    );
    for (const turns of [0, 1, 3])
      add(
        `stopped after ${turns} turns: ${fixture.title}`,
        during(fixture, (setting) => checkAbortedDuring(setting, fixture, turns)),
      );
    add(
      `repeats no secret: ${fixture.title}`,
      during(fixture, (setting) => checkNoSecrets(setting, fixture)),
    );
  }
  for (const fixture of fixtures.invalid) {
    add(`invalid: ${fixture.title}`, () =>
      inSetting(make, name, fixtures, fixture, (setting) => checkInvalid(setting, fixture)),
    );
  }
  return cases;
}

/** Registers the contract's cases of one tool as tests. */
export function testTool(tool: AnyTool, fixtures: ToolFixtures, make?: MakeTools): void {
  describe(tool.name, () => {
    for (const { title, run } of contractOf(tool, fixtures, make)) it(title, run);
  });
}

export interface FamilyTest {
  /** Makes the family; called for each test. Making one opens nothing. */
  make(workspace?: { directory: string }): Family;
  /** By tool name; each tool of the family needs its own. */
  tools: Readonly<Record<string, ToolFixtures>>;
  /** Folder of the golden files, ending in `/`: `new URL("./golden/", import.meta.url)`. */
  golden: URL;
  /** How a child process makes the same family, for the test with two processes at once. */
  processes?: ProcessModule;
}

/**
 * The whole contract for a family, in one line of its test: every tool with its fixtures, the golden files of all
 * profiles, and two processes at once in one workspace.
 *
 * @example
 * testFamily({ make: () => createNotes(), tools: { note_add: { valid: [{ title: "a note", input: { text: "hi" } }], invalid: [{ title: "no text", input: {} }] } }, golden: new URL("./golden/", import.meta.url) });
 */
export function testFamily(family: FamilyTest): void {
  const { tools, name } = family.make();
  describe(`contract of ${name}`, () => {
    it("has fixtures for each of its tools and for no other", () => {
      expect(Object.keys(family.tools).sort()).toEqual(tools.map((tool) => tool.name).sort());
    });
    it("can be closed without having been used, and twice", async () => {
      const unused = family.make();
      await unused.close();
      await unused.close();
    });
    for (const tool of tools) {
      const fixtures = family.tools[tool.name];
      if (fixtures !== undefined) testTool(tool, fixtures, (workspace) => family.make(workspace));
      it(`${tool.name} is told to providers as in its golden file`, () => checkGolden(tool, family.golden));
    }
    it("has no golden file of a tool that is gone", () => checkNoStrayGolden(tools, family.golden));
    const { processes } = family;
    if (processes !== undefined)
      it("works from two processes at once", () => checkTwoProcesses(tools, family.tools, processes), 120_000);
  });
}

function refuses(tool: AnyTool, profile: (typeof profiles)[number]): boolean {
  try {
    toJsonSchema(tool, profile);
    return false;
  } catch (error) {
    if (error instanceof ToolError && error.code === "unsupported") return true;
    throw error;
  }
}
