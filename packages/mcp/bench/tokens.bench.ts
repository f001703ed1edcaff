import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineBench } from "@toolhaft/testing";
import { familyNames, type Listed, peerTools, tokensOf, toolsOf } from "./listings.ts";

const command = fileURLToPath(new URL("../../toolhaft/dist/bin.js", import.meta.url));

/** What a listing costs a model, counted with o200k over name, description and schema, beside well-known servers in the same run. */
export default defineBench(async (bench) => {
  if (!existsSync(command))
    return bench.skip("tokens of a listing", "packages/toolhaft is not built: run npm run build");
  const counted = (await peerTools()).map(({ name, tools }) => ({ name, tokens: tools.map(tokensOf) }));
  const families = await familyNames(command);
  const ours: { name: string; tools: Listed[] }[] = [];
  for (const name of families) ours.push({ name, tools: await toolsOf([command, "mcp", name, "--quiet"]) });
  const all = ours.flatMap(({ tools }) => tools);

  const row = (name: string, tokens: number[]) => [
    name,
    tokens.length,
    sum(tokens),
    Math.round(mean(tokens)),
    Math.max(...tokens),
  ];
  bench.table(
    "tokens of a listing (o200k: name, description, schema)",
    ["set", "tools", "tokens", "mean", "largest"],
    [
      ...ours.map(({ name, tools }) => row(`toolhaft ${name}`, tools.map(tokensOf))),
      row("toolhaft, all", all.map(tokensOf)),
      ...counted.map(({ name, tokens }) => row(name, tokens)),
    ],
  );
  bench.table(
    "largest tools",
    ["tool", "tokens"],
    all
      .map((tool): [string, number] => [tool.name, tokensOf(tool)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, 10),
  );
  const playwright = counted[0]?.tokens ?? [];
  bench.figure({
    name: "schema tokens, mean per tool",
    ours: mean(all.map(tokensOf)),
    baseline: { name: "@playwright/mcp", value: mean(playwright) },
    unit: "tokens",
    target: { max: 1 },
  });
  bench.figure({
    name: "estimateTokens, mean absolute error",
    ours: mean(all.map((tool) => Math.abs(estimate(tool) - tokensOf(tool)) / tokensOf(tool))),
    baseline: { name: "o200k", value: 1 },
    unit: "of the count",
    target: { max: 0.15 },
  });
});

/** The formula of core: bytes of name, description and schema over 4.8. */
const estimate = ({ name, description = "", inputSchema }: Listed) =>
  Math.ceil(Buffer.byteLength(JSON.stringify({ name, description, schema: inputSchema })) / 4.8);
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;
