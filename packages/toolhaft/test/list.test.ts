import { describe, expect, it } from "vitest";
import { command, fixtureRegistry } from "./command.ts";

describe("toolhaft list", () => {
  it("shows tool, title, hints and tokens of the default families, byte for byte the same twice", async () => {
    const first = await command(["list"]);
    expect(first.code).toBe(0);
    expect(first.out).toMatch(/^tool +title +hints +tokens\necho +Echo a text +reads, idempotent +\d+\n/);
    expect(first.out).not.toContain("slow");
    expect(first.out).not.toContain("\u001b");
    expect((await command(["list"])).out).toBe(first.out);
  });

  it("shows all families, and loads only those that are named", async () => {
    expect((await command(["list", "all"])).out).toContain("slow");
    const known = fixtureRegistry();
    await command(["list", "waiting"], {}, known);
    expect(known.loaded).toEqual(["waiting"]);
  });

  it("prints JSON", async () => {
    const { out } = await command(["list", "--json"]);
    expect(JSON.parse(out)[0]).toEqual({
      name: "echo",
      title: "Echo a text",
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
      tokens: expect.any(Number),
    });
  });

  it("narrows by pattern and to tools that only read", async () => {
    const names = async (...words: string[]) =>
      JSON.parse((await command(["list", "--json", ...words])).out).map(({ name }: { name: string }) => name);
    expect(await names("--tools", "e*", "fails")).toEqual(["echo", "fails"]);
    expect(await names("--without", "e*")).toEqual(["defaults", "fails", "asks", "changes_files"]);
    expect(await names("--read-only")).toEqual(["echo", "defaults", "fails"]);
  });

  it("shows what a profile refuses", async () => {
    expect((await command(["list", "--profile", "mcp"])).out).toBe("all 5 tools are fine under mcp\n");
  });

  it("writes the head in bold on a terminal", async () => {
    expect((await command(["list"], { colours: true })).out).toMatch(/^\u001b\[1mtool /);
  });
});

describe("toolhaft describe", () => {
  it("tells parameters, an example that works, permissions and tokens", async () => {
    const { code, out } = await command(["describe", "defaults"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^defaults: Claim with defaults\n/);
    expect(out).toMatch(/ttl_secs +integer +no +600 +1–86400 +Seconds until it ends/);
    expect(out).toMatch(/priority +"low" \| "high" +no/);
    expect(out).toMatch(/owner +string +yes/);
    expect(out).toMatch(/Tokens: about \d+/);
    const example = /Example: toolhaft call defaults '(.+)'/.exec(out)?.[1] ?? "";
    expect((await command(["call", "defaults", example])).code).toBe(0);
  });

  it("tells what it will ask for", async () => {
    expect((await command(["describe", "changes_files"])).out).toContain("Permissions: file.write");
    expect((await command(["describe", "echo"])).out).toContain("Permissions: none that the input tells beforehand");
  });

  it("prints the schema of a profile and nothing else", async () => {
    const plain = await command(["describe", "defaults", "--schema"]);
    expect(JSON.parse(plain.out)).toMatchObject({ type: "object", required: ["owner"] });
    const strict = await command(["describe", "defaults", "--schema", "openai-strict"]);
    expect(JSON.parse(strict.out).required).toEqual(["owner", "priority", "ttl_secs", "paths"]);
  });
});
