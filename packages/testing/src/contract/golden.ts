import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import {
  type AnyTool,
  estimateTokens,
  type JsonSchema,
  type Profile,
  profiles,
  ToolError,
  toJsonSchema,
} from "@toolhaft/core";
import { expect } from "vitest";

/** Set to `write` to make the golden files anew; read the difference before it is committed. */
export const goldenMode = process.env.TOOLHAFT_GOLDEN;

/** What providers are told about a tool, as text: the base once, then what each profile makes of it. */
export function goldenText(tool: AnyTool): string {
  const base = toJsonSchema(tool, "mcp");
  const differs = profiles.filter((profile) => !["mcp", "openai", "anthropic"].includes(profile));
  const said = Object.fromEntries(differs.map((profile) => [profile, inProfile(tool, profile, base)]));
  const content = {
    name: tool.name,
    title: tool.title,
    description: tool.description,
    annotations: tool.annotations,
    tokens: estimateTokens(tool),
    input: base,
    output: toJsonSchema(tool, "mcp", "output"),
    profiles: said,
  };
  return `${JSON.stringify(content, undefined, 2)}\n`;
}

/** The dialects are the base with its `$schema`: one line each says that. */
function inProfile(tool: AnyTool, profile: Profile, base: JsonSchema): unknown {
  try {
    const { $schema, ...schema } = toJsonSchema(tool, profile);
    const same = JSON.stringify(schema) === JSON.stringify(base);
    if ($schema !== undefined) return same ? `the input with $schema ${String($schema)}` : { $schema, ...schema };
    return same ? "the input" : schema;
  } catch (error) {
    if (error instanceof ToolError && error.code === "unsupported") return `unsupported: ${error.message}`;
    throw error;
  }
}

/** Compares a tool with its golden file `<folder>/<tool>.golden.json`. */
export async function checkGolden(tool: AnyTool, folder: URL): Promise<void> {
  const file = new URL(`${tool.name}.golden.json`, folder);
  const now = goldenText(tool);
  if (goldenMode === "write") {
    await mkdir(folder, { recursive: true });
    await writeFile(file, now);
    return;
  }
  let then: string;
  try {
    then = await readFile(file, "utf8");
  } catch (cause) {
    throw new Error(
      `${tool.name} has no golden file; run the test once with TOOLHAFT_GOLDEN=write and read what it writes to ${file.pathname}`,
      { cause },
    );
  }
  expect(
    JSON.parse(now),
    "what providers are told has changed; run with TOOLHAFT_GOLDEN=write and read the difference",
  ).toEqual(JSON.parse(then));
  expect(now).toBe(then);
}

/** A golden file without its tool is left from an older name. */
export async function checkNoStrayGolden(tools: readonly AnyTool[], folder: URL): Promise<void> {
  const files = (await readdir(folder)).filter((name) => name.endsWith(".golden.json"));
  const known = tools.map((tool) => `${tool.name}.golden.json`);
  expect(files.filter((name) => !known.includes(name))).toEqual([]);
}
