import { estimateTokens, isToolError, type Profile, profiles, toJsonSchema } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { everyFamilyTool } from "../test/families.ts";

/** What all tools cost a model in each provider's form of a schema; `pnpm bench mcp` counts the same beside other servers. */
export default defineBench(async (bench) => {
  const tools = await everyFamilyTool();
  const tokensOf = (profile: Profile) =>
    tools.flatMap((tool) => {
      try {
        return [encode(`${tool.name}\n${tool.description}\n${JSON.stringify(toJsonSchema(tool, profile))}`).length];
      } catch (error) {
        if (isToolError(error)) return [];
        throw error;
      }
    });
  const rows = profiles.map((profile) => ({ profile, tokens: tokensOf(profile) }));
  const total = (tokens: readonly number[]) => tokens.reduce((sum, each) => sum + each, 0);
  bench.table(
    "tokens of all tools by profile (o200k: name, description, schema)",
    ["profile", "tools", "not sayable", "tokens", "mean", "largest"],
    rows.map(({ profile, tokens }) => [
      profile,
      tokens.length,
      tools.length - tokens.length,
      total(tokens),
      Math.round(total(tokens) / tokens.length),
      Math.max(...tokens),
    ]),
  );
  const counted = total(rows.find(({ profile }) => profile === "mcp")?.tokens ?? []);
  bench.figure({
    name: "estimateTokens of the whole set",
    ours: estimateTokens(tools),
    baseline: { name: "o200k", value: counted },
    unit: "tokens",
    target: { min: 0.85, max: 1.15 },
  });
});
