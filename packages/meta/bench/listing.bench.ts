import { estimateTokens, toolset } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";
import { createMeta } from "../src/index.ts";
import { createCatalogueTools } from "../test/catalogue.ts";
import { queries } from "../test/queries.ts";

export default defineBench(async (bench) => {
  const all = toolset(...createCatalogueTools());
  const meta = createMeta({ tools: all });
  bench.figure({
    name: "first listing",
    ours: estimateTokens(meta.tools),
    baseline: { name: `all ${all.tools.length} tools`, value: estimateTokens(all.tools) },
    unit: "tokens",
  });
  let found = 0;
  const search = toolset(meta).get("tool_search");
  for (const [query, wanted] of queries) {
    const result = await search?.call({ query, limit: 3 }, { directory: process.cwd() });
    if (result?.text.includes(`\n${wanted}: `)) found += 1;
  }
  bench.figure({
    name: "right tool in the first three",
    ours: found,
    baseline: { name: "queries in two languages", value: queries.length },
    unit: "queries",
    target: { min: 55 / 60 },
  });
  bench.note("The catalogue has one-parameter tools; real ones cost about four times as much, the meta tools do not.");
});
