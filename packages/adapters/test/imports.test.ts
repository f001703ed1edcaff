import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import manifest from "../package.json" with { type: "json" };

/** The only libraries that a subpath may import beside core. */
const hostOf: Readonly<Record<string, readonly string[]>> = {
  "ai-sdk": ["ai"],
  "claude-agent-sdk": ["@modelcontextprotocol/sdk/server/mcp.js", "@toolhaft/mcp"],
  langchain: ["@langchain/core/messages", "@langchain/core/tools"],
  mastra: ["@mastra/core/tools"],
};

const subpaths = Object.keys(manifest.exports)
  .filter((name) => name !== "./package.json")
  .map((name) => name.slice(2));

/** What a file and everything it imports of its own package import from elsewhere, and the files themselves. */
function importsOf(file: string, seen = new Map<string, string[]>()): Map<string, string[]> {
  if (seen.has(file)) return seen;
  const text = readFileSync(new URL(`../src/${file}`, import.meta.url), "utf8");
  const specifiers = [...text.matchAll(/^(?:import|export)[^;]*? from "([^"]+)";/gms)].map(([, name = ""]) => name);
  seen.set(
    file,
    specifiers.filter((name) => !name.startsWith(".")),
  );
  for (const name of specifiers) if (name.startsWith("./")) importsOf(name.slice(2), seen);
  return seen;
}

it.for(subpaths)("pack-1: /%s imports its own host alone, and no other subpath", (subpath) => {
  const files = importsOf(`${subpath}.ts`);
  const foreign = new Set([...files.values()].flat().filter((name) => name !== "@toolhaft/core"));
  expect([...foreign].sort()).toEqual([...(hostOf[subpath] ?? [])].sort());
  const others = [...files.keys()].filter(
    (file) => file !== `${subpath}.ts` && subpaths.includes(file.replace(".ts", "")),
  );
  expect(others).toEqual([]);
});

it("pack-1: every host is an optional peer", () => {
  expect(Object.keys(manifest.peerDependenciesMeta).sort()).toEqual(Object.keys(manifest.peerDependencies).sort());
  for (const { optional } of Object.values(manifest.peerDependenciesMeta)) expect(optional).toBe(true);
});
