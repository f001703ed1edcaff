import { createPolicy, type PolicyRule } from "@toolhaft/core";
import { defineBench } from "@toolhaft/testing";

const folders = Array.from({ length: 200 }, (_, index) => `packages/p${index}/src`);
const rules: readonly PolicyRule[] = folders.map((folder, index) => ({
  effect: index % 10 === 0 ? "deny" : index % 3 === 0 ? "ask" : "allow",
  permission: "file.write",
  resources: `${folder}/**/*.ts`,
}));
const policy = createPolicy({ rules, directory: "/w" });
const expressions = folders.map((folder) => new RegExp(`^/w/${folder}/(?:[^/]+/)*[^/]*\\.ts$`));
/** No rule matches it: all 200 are looked at, on both sides. */
const resource = "/w/packages/other/src/deep/file.ts";
const query = { tool: "edit_file", agent: "main", permission: "file.write", resource };

export default defineBench(async (bench) => {
  await bench.compare({
    name: "policy.check with 200 rules",
    ours: () => policy.check(query),
    baseline: { name: "200 regex tests", run: () => expressions.map((expression) => expression.test(resource)) },
    target: { max: 2 },
  });
});
