import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { command } from "./command.ts";

describe("toolhaft call", () => {
  it("prints the text, from an argument, a file or standard input", async () => {
    const workspace = await tempWorkspace({ "input.json": '\ufeff{"text":"from a file"}' });
    const cwd = workspace.directory;
    expect(await command(["call", "echo", '{"text":"given"}'], { cwd })).toEqual({ code: 0, out: "given\n", err: "" });
    expect(await command(["call", "echo", "@input.json"], { cwd })).toEqual({ code: 0, out: "from a file\n", err: "" });
    expect(await command(["call", "echo", "-"], { cwd, input: '{"text":"piped"}' })).toEqual({
      code: 0,
      out: "piped\n",
      err: "",
    });
    await workspace.remove();
  });

  it("prints the wire form with --json, for a failure too", async () => {
    const done = await command(["call", "echo", '{"text":"a"}', "--json"]);
    expect(JSON.parse(done.out)).toMatchObject({
      schema: "toolhaft_result_v1",
      ok: true,
      tool: "echo",
      content: "a",
      error: null,
      data: { text: "a" },
    });
    const failed = await command(["call", "fails", "{}", "--json"]);
    expect(failed.code).toBe(1);
    expect(JSON.parse(failed.out)).toMatchObject({ ok: false, error: { code: "not_found", hint: "post one first" } });
  });

  it("tells a failure on standard error: code, message, hint; exit code 1", async () => {
    const { code, out, err } = await command(["call", "fails", "{}"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toBe("not_found: no pending task\nhint: post one first\n");
  });

  it.each(["{}", "[]", "null", "5", '"text"', '{"text":1}', '{"txt":"a"}'])(
    "exit code 2 for the bad input %s",
    async (input) => {
      const { code, out, err } = await command(["call", "echo", input]);
      expect({ code, out }).toEqual({ code: 2, out: "" });
      expect(err).toContain("invalid_input");
    },
  );

  it("works in the current directory", async () => {
    const workspace = await tempWorkspace();
    expect(await command(["call", "changes_files", "{}"], { cwd: workspace.directory })).toMatchObject({ code: 0 });
    expect(await readFile(workspace.path("fixture.txt"), "utf8")).toBe("changed\n");
    await workspace.remove();
  });

  it("exit code 4 where nobody can be asked, with the flag that would allow it; the flag works", async () => {
    const outside = await tempWorkspace();
    const path = outside.path("x");
    const input = JSON.stringify({ path });
    const denied = await command(["call", "asks", input]);
    expect(denied.code).toBe(4);
    const flag = /--allow '([^']+)'/.exec(denied.err)?.[1] ?? "";
    expect(existsSync(path)).toBe(false);
    expect((await command(["call", "asks", input, "--allow", flag])).code).toBe(0);
    expect(existsSync(path)).toBe(true);
    expect((await command(["call", "asks", input, "--allow", flag, "--deny", `file.write:${path}`])).code).toBe(4);
    await outside.remove();
  });

  it("asks on a terminal: yes, no, and words that go to the tool", async () => {
    const outside = await tempWorkspace();
    const input = JSON.stringify({ path: outside.path("x") });
    const refused = await command(["call", "asks", input], { answers: ["use another folder"] });
    expect(refused.code).toBe(4);
    expect(refused.err).toContain("use another folder");
    expect((await command(["call", "asks", input], { answers: [""] })).code).toBe(4);
    expect(existsSync(outside.path("x"))).toBe(false);
    const asked = await command(["call", "asks", input], { answers: ["y"] });
    expect(asked.code).toBe(0);
    expect(asked.err).toContain(`asks asks for file.write ${outside.path("x")}`);
    await outside.remove();
  });

  it("refuses tools that write with --read-only", async () => {
    expect(await command(["call", "changes_files", "{}", "--read-only"])).toMatchObject({
      code: 4,
      err: "toolhaft: changes_files writes, and --read-only was given\n",
    });
    expect((await command(["call", "echo", '{"text":"a"}', "--read-only"])).code).toBe(0);
  });

  it("exit code 124 on a time-out and 130 when it was interrupted", async () => {
    expect(await command(["call", "slow", "{}", "--timeout", "0.05"])).toMatchObject({
      code: 124,
      err: expect.stringContaining("timeout"),
    });
    const controller = new AbortController();
    const running = command(["call", "slow", '{"steps":1}'], { signal: controller.signal });
    setTimeout(() => controller.abort(), 20);
    expect(await running).toMatchObject({ code: 130, err: expect.stringContaining("cancelled") });
  });

  it("shows progress on standard error", async () => {
    const controller = new AbortController();
    const running = command(["call", "slow", '{"steps":1}'], { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    expect(await running).toMatchObject({ out: "", err: expect.stringMatching(/^1\/1 step 1\n/) });
  });
});
