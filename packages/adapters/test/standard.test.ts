import { existsSync } from "node:fs";
import { createPolicy, isToolError } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { expect, it } from "vitest";
import { bindStandard } from "../src/standard.ts";

const byName = (tools: ReturnType<typeof bindStandard>, name: string) => {
  const found = tools.map((tool) => tool["~standard"]).find((standard) => standard.name === name);
  if (found === undefined) throw new Error(`there is no tool ${name}`);
  return found;
};

it("gives data, applies defaults, and rejects with the failure's code", async () => {
  const tools = bindStandard(fixtureTools({}));
  expect(await byName(tools, "defaults").execute({ owner: "a" })).toEqual({ owner: "a", ttl_secs: 600 });
  for (const [name, input, code] of [
    ["fails", {}, "not_found"],
    ["defaults", { owner: 1 }, "invalid_input"],
    ["defaults", { owner: "a", ttlSecs: 1 }, "invalid_input"],
  ] as const) {
    const thrown: unknown = await byName(tools, name)
      .execute(input)
      .catch((error: unknown) => error);
    expect(isToolError(thrown) && thrown.code).toBe(code);
  }
});

it("describes itself by our JSON Schema", () => {
  const { inputSchema, version, vendor } = byName(bindStandard(fixtureTools({})), "defaults");
  expect({ version, vendor }).toEqual({ version: 1, vendor: "toolhaft" });
  expect(inputSchema["~standard"].jsonSchema.input({ target: "draft-2020-12" })).toMatchObject({
    required: ["owner"],
    properties: { ttl_secs: { default: 600 } },
  });
});

it("works in the context it was bound to, and asks nobody where there is nobody", async () => {
  const workspace = await tempWorkspace();
  const outside = await tempWorkspace();
  const tools = bindStandard(fixtureTools({}), { directory: workspace.directory });
  await byName(tools, "changes_files").execute({});
  expect(existsSync(workspace.path("fixture.txt"))).toBe(true);
  await expect(byName(tools, "asks").execute({ path: outside.path("x") })).rejects.toMatchObject({ code: "denied" });
  expect(existsSync(outside.path("x"))).toBe(false);
  const policy = createPolicy({ rules: [{ effect: "deny", tools: "fails" }], fallback: "allow" });
  const names = bindStandard(fixtureTools({}), { policy }).map((tool) => tool["~standard"].name);
  expect(names).not.toContain("fails");
  await Promise.all([workspace.remove(), outside.remove()]);
});

it("stops with the signal it was bound to", async () => {
  const controller = new AbortController();
  const running = byName(bindStandard(fixtureTools({}), { signal: controller.signal }), "slow").execute({});
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
});
