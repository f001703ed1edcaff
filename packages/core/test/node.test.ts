import { spawn } from "node:child_process";
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createContext, resultCap, toolset } from "../src/index.ts";
import { processStart, spillTo } from "../src/node.ts";
import { probe } from "./tools.ts";

let directory = "";
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-node-")));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("processStart", () => {
  it("is equal for one process and different for another", async () => {
    const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
    try {
      const own = await processStart(process.pid);
      expect(own).toBe(await processStart(process.pid));
      const other = await processStart(child.pid ?? -1);
      expect(other).toBe(await processStart(child.pid ?? -1));
      expect(other).not.toBe(own);
    } finally {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.kill("SIGKILL");
      await ended;
    }
    expect(await processStart(child.pid ?? -1)).toBeUndefined();
  });
  it.each([0, -1, 1.5, Number.NaN, 2 ** 30])("knows no process %s", async (pid) =>
    expect(await processStart(pid)).toBeUndefined(),
  );
});

describe("spillTo", () => {
  const spilled = (): Promise<string[]> => readdir(join(directory, ".toolhaft", "spill"));
  const spill = (text: string, callId: string, options = {}) =>
    spillTo(directory, options)(text, createContext({ directory, callId }));

  it("cap-1: 200,000 characters with emoji are kept whole, the text is cut and says where", async () => {
    const full = "a😀é".repeat(50_000);
    const long = probe(() => ({ value: full }), { render: () => full });
    const [tool] = toolset(long).wrap(resultCap({ spill: spillTo(directory) })).tools;
    const result = await tool?.call({}, { directory, callId: "call_1" });
    const path = join(directory, ".toolhaft", "spill", "call_1.txt");
    expect(result).toMatchObject({
      ok: true,
      data: { value: full },
      attachments: [{ name: "call_1.txt", bytes: Buffer.byteLength(full), source: { kind: "file", path } }],
    });
    expect(result?.text.length).toBeLessThanOrEqual(30_000);
    expect(result?.text).toContain(`characters left out here; the full text is in ${path}]`);
    expect(/\p{Surrogate}/u.test(result?.text ?? "")).toBe(false);
    expect(await readFile(path, "utf8")).toBe(full);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(join(directory, ".toolhaft", ".gitignore"), "utf8")).toBe("*\n");
  });
  it("never writes over another one", async () => {
    await spill("one", "same");
    await spill("two", "same");
    expect((await spilled()).sort()).toEqual(["same-2.txt", "same.txt"]);
    expect(await readFile(join(directory, ".toolhaft", "spill", "same.txt"), "utf8")).toBe("one");
  });
  it("writes a call id that is no file name as hex, inside the folder", async () => {
    await spill("x", "../../etc/passwd");
    expect(await spilled()).toEqual([`x${Buffer.from("../../etc/passwd").toString("hex")}.txt`]);
  });
  it("removes what is too old and, oldest first, too much", async () => {
    const old = new Date(Date.now() - 8 * 86_400_000);
    await spill("old", "old");
    await utimes(join(directory, ".toolhaft", "spill", "old.txt"), old, old);
    await spill("x".repeat(40), "a", { maxBytes: 100 });
    await utimes(
      join(directory, ".toolhaft", "spill", "a.txt"),
      new Date(1_000_000 + Date.now() - 2_000_000),
      new Date(Date.now() - 1_000_000),
    );
    await spill("x".repeat(40), "b", { maxBytes: 100 });
    await spill("x".repeat(40), "c", { maxBytes: 100 });
    expect((await spilled()).sort()).toEqual(["b.txt", "c.txt"]);
  });
  it("does not keep what is over the limit by itself", async () => {
    await expect(spill("x".repeat(101), "big", { maxBytes: 100 })).rejects.toThrow(
      "it has 101 bytes, over the 100 that are kept",
    );
  });
  it.each([".toolhaft", join(".toolhaft", "spill")])("does not follow a link at %s", async (link) => {
    const elsewhere = join(directory, "elsewhere");
    await mkdir(elsewhere);
    if (link !== ".toolhaft") await mkdir(join(directory, ".toolhaft"));
    await symlink(elsewhere, join(directory, link));
    await expect(spill("x", "a")).rejects.toThrow("is no folder");
    expect(await readdir(elsewhere)).toEqual([]);
  });
  it("a folder that cannot be made is said in the text, and the result stays", async () => {
    await writeFile(join(directory, ".toolhaft"), "a file");
    const long = probe(() => ({ value: 1 }), { render: () => "x".repeat(50_000) });
    const [tool] = toolset(long).wrap(resultCap({ spill: spillTo(directory) })).tools;
    const result = await tool?.call({}, { directory });
    expect(result).toMatchObject({ ok: true, data: { value: 1 } });
    expect(result?.text).toContain("the full text could not be kept: ");
  });
});
