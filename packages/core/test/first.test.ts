import { expect, it } from "vitest";
import { createContext, createPolicy, parseRule, toolset } from "../src/index.ts";
import { processStart } from "../src/node.ts";
import { defaults, echo, fails } from "./fixture-tools.ts";

it("runs with defaults applied", async () => {
  const result = await defaults.call({ owner: "a" });
  expect(result).toMatchObject({ ok: true, data: { owner: "a", ttl_secs: 600 } });
});
it("text of a failure", async () => {
  const result = await fails.call({});
  expect(result.text).toBe("not_found: no pending task\nhint: post one first");
});
it("bad input", async () => {
  const result = await defaults.call({ owner: 1 as never });
  expect(result.text).toContain("owner");
  console.log(result.text);
  console.log((await defaults.call({ ownr: 1, priority: "x" } as never)).text);
  console.log((await echo.call('{"text":"abc' as never)).text);
  console.log(await defaults.call({ owner: "a", ttl_secs: "60", priority: null } as never));
});
it("policy", () => {
  const policy = createPolicy({
    directory: "/w",
    rules: [parseRule("allow", "file.write:src/*"), parseRule("allow", "net.fetch:*.example.com")],
  });
  const check = (permission: string, resource: string) =>
    policy.check({ tool: "t", agent: "main", permission, resource }).effect;
  expect(check("file.write", "/w/src/a.ts")).toBe("allow");
  expect(check("file.write", "/w/src/a/b.ts")).toBe("ask");
  expect(check("file.write", "/w/src/../etc/x")).toBe("ask");
  expect(check("net.fetch", "https://a.example.com:443/")).toBe("allow");
  expect(check("net.fetch", "https://evil.com/?x=a.example.com")).toBe("ask");
});
it("context and toolset", async () => {
  const context = createContext({ directory: process.cwd() });
  await context.ask({ permission: "file.write", resources: [`${process.cwd()}/x`], reason: "r" });
  await expect(context.ask({ permission: "file.write", resources: ["/etc/x"], reason: "r" })).rejects.toMatchObject({
    code: "denied",
  });
  const set = toolset([echo, defaults]).prefix("x_");
  expect(set.tools.map((tool) => tool.name)).toEqual(["x_echo", "x_defaults"]);
  expect((await set.get("x_echo")?.call({ text: "a" }, context))?.text).toBe("a");
  expect(await processStart(process.pid)).toMatch(/:\d+$/);
});
