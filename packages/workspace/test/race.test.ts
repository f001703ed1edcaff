import { spawn } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tempWorkspace } from "@toolhaft/testing";
import { describe, expect, it } from "vitest";
import { createWorkspace } from "../src/index.ts";
import { change, create, expectError, replaceLine } from "./edits.ts";

const program = fileURLToPath(new URL("./fixtures/appender.mjs", import.meta.url));
const PROCESSES = 8;
const EDITS = 50;

/** A process that appends lines one commit at a time and prints each one that was acknowledged. */
function appender(root: string, lockDir: string, name: string, count: number) {
  const child = spawn(process.execPath, [program, JSON.stringify({ root, lockDir, name, count })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const ended = new Promise<{ code: number | null; acknowledged: string[] }>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, acknowledged: output.split("\n").filter((line) => line !== "") }));
  });
  return { child, ended, lines: () => output.split("\n").length - 1 };
}

async function arena(files: Record<string, string> = {}) {
  const outer = await tempWorkspace();
  const root = outer.path("root");
  mkdirSync(root);
  for (const [path, text] of Object.entries(files)) writeFileSync(join(root, path), text);
  return {
    outer,
    root,
    lockDir: outer.path("locks"),
    scope: { directory: root },
    [Symbol.asyncDispose]: () => outer.remove(),
  };
}

describe("several writers of one file", () => {
  it("race-2: eight processes with fifty appends each lose none and repeat none", { timeout: 300_000 }, async () => {
    await using place = await arena({ "log.txt": "" });
    const writers = Array.from({ length: PROCESSES }, (_, k) => appender(place.root, place.lockDir, `w${k}`, EDITS));
    const ended = await Promise.all(writers.map((writer) => writer.ended));
    expect(ended.map(({ code }) => code)).toEqual(Array(PROCESSES).fill(0));
    const lines = readFileSync(join(place.root, "log.txt"), "utf8").trimEnd().split("\n");
    const expected = Array.from({ length: PROCESSES }, (_, k) =>
      Array.from({ length: EDITS }, (_, n) => `w${k} ${n}`),
    ).flat();
    expect([...lines].sort()).toEqual(expected.sort());
    expect(readdirSync(place.lockDir)).toEqual([]);
  });

  it("of whom two are killed at random lose no acknowledged append", { timeout: 300_000 }, async () => {
    await using place = await arena({ "log.txt": "" });
    const writers = Array.from({ length: PROCESSES }, (_, k) =>
      appender(place.root, place.lockDir, `w${k}`, EDITS / 2),
    );
    for (const victim of writers.slice(0, 2)) {
      const enough = 2 + Math.floor(Math.random() * 10);
      const timer = setInterval(() => {
        if (victim.lines() >= enough) victim.child.kill("SIGKILL");
      }, 1);
      void victim.ended.then(() => clearInterval(timer));
    }
    const ended = await Promise.all(writers.map((writer) => writer.ended));
    expect(ended.slice(2).map(({ code }) => code)).toEqual(Array(PROCESSES - 2).fill(0));
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir });
    await workspace.recover();
    const lines = readFileSync(join(place.root, "log.txt"), "utf8").trimEnd().split("\n");
    expect(new Set(lines).size).toBe(lines.length);
    for (const { acknowledged } of ended) expect(lines).toEqual(expect.arrayContaining(acknowledged));
    // A commit may have been decided and killed before it was acknowledged.
    const sum = ended.reduce((total, { acknowledged }) => total + acknowledged.length, 0);
    expect(lines.length - sum).toBeGreaterThanOrEqual(0);
    expect(lines.length - sum).toBeLessThanOrEqual(2);
    expect(readdirSync(place.lockDir)).toEqual([]);
  });

  it("in one process, through one workspace and through two, lose none", async () => {
    await using place = await arena({ "log.txt": "" });
    const options = { root: place.root, lockDir: place.lockDir, fsync: false, lockTimeoutMs: 60_000 };
    await using one = createWorkspace(options);
    await using two = createWorkspace(options);
    const append = (workspace: typeof one, text: string) =>
      workspace.edit(
        ["log.txt"],
        (files) => {
          const before = files.get("log.txt");
          const lines = before?.lineCount ?? 0;
          const bytes = Buffer.concat([before?.bytes ?? new Uint8Array(), Buffer.from(`${text}\n`)]);
          const lineChanges = [{ oldStart: lines + 1, oldLines: 0, newStart: lines + 1, newLines: 1 }];
          return { changes: [{ kind: "replace", path: "log.txt", bytes, lineChanges }], result: undefined };
        },
        place.scope,
      );
    const texts = Array.from({ length: 40 }, (_, k) => `line ${k}`);
    await Promise.all(texts.map((text, k) => append(k % 2 ? one : two, text)));
    const lines = readFileSync(join(place.root, "log.txt"), "utf8").trimEnd().split("\n");
    expect(lines.sort()).toEqual(texts.sort());
  });

  it("of whom many wait under one signal are no leak that Node would warn of", async () => {
    await using place = await arena({ "log.txt": `${"x\n".repeat(30)}` });
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir, fsync: false });
    const warned: Error[] = [];
    const onWarning = (warning: Error) => void warned.push(warning);
    process.on("warning", onWarning);
    const scope = { ...place.scope, signal: new AbortController().signal };
    await Promise.all(Array.from({ length: 30 }, (_, k) => replaceLine(workspace, "log.txt", k + 1, [`${k}`], scope)));
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", onWarning);
    expect(warned).toEqual([]);
    expect(readFileSync(join(place.root, "log.txt"), "utf8").split("\n").filter(Boolean).map(Number)).toEqual(
      Array.from({ length: 30 }, (_, k) => k),
    );
  });

  it("of batches that name the same files in different order never wait for each other forever", async () => {
    await using place = await arena({ a: "a\n", b: "b\n", c: "c\n" });
    const options = { root: place.root, lockDir: place.lockDir, fsync: false, lockTimeoutMs: 60_000 };
    await using one = createWorkspace(options);
    await using two = createWorkspace(options);
    const orders = [
      ["a", "b", "c"],
      ["c", "b", "a"],
      ["b", "c", "a"],
    ];
    const all = Array.from({ length: 30 }, (_, k) =>
      (k % 2 ? one : two).edit(
        orders[k % 3] ?? [],
        (files) => ({
          changes: [...files].map(([path, file]) => ({
            kind: "replace" as const,
            path,
            bytes: Buffer.from(`${path} ${k}\n`),
            lineChanges: [{ oldStart: 1, oldLines: file?.lineCount ?? 0, newStart: 1, newLines: 1 }],
          })),
          result: undefined,
        }),
        place.scope,
      ),
    );
    await Promise.all(all);
    const texts = ["a", "b", "c"].map((path) => readFileSync(join(place.root, path), "utf8").split(" ")[1]);
    expect(new Set(texts).size).toBe(1);
  });
});

describe("two calls with one version, at once", () => {
  const numbers = `${Array.from({ length: 100 }, (_, k) => k + 1).join("\n")}\n`;

  it("race-1: on different lines both land", async () => {
    await using place = await arena({ n: numbers });
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir, fsync: false });
    await Promise.all([
      replaceLine(workspace, "n", 50, ["FIFTY"], place.scope),
      replaceLine(workspace, "n", 75, ["SEVENTY-FIVE"], place.scope),
    ]);
    const lines = readFileSync(join(place.root, "n"), "utf8").split("\n");
    expect([lines[49], lines[74], lines.length]).toEqual(["FIFTY", "SEVENTY-FIVE", 101]);
  });
});

describe("a foreign write", () => {
  it.each(["plan", "stage", "backup"])("after the %s is a conflict, and its bytes are kept", async (moment) => {
    await using place = await arena({ a: "a\n", b: "b\n" });
    const { nodeFileSystem } = await import("../src/index.ts");
    const intrude = () => writeFileSync(join(place.root, "a"), "theirs\n");
    const fileSystem = {
      ...nodeFileSystem,
      async open(path: string, how: "read" | "create" | "update", mode?: number) {
        const file = await nodeFileSystem.open(path, how, mode);
        if (moment === "stage" && path.includes("/.toolhaft-")) intrude();
        return file;
      },
      async link(existing: string, path: string) {
        await nodeFileSystem.link(existing, path);
        if (moment === "backup" && path.includes("old-")) intrude();
      },
    };
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir, fileSystem });
    const attempt = workspace.edit(
      ["a", "b"],
      (files) => {
        if (moment === "plan") intrude();
        return {
          changes: ["a", "b"].map((path) => ({
            kind: "replace" as const,
            path,
            bytes: Buffer.from(`ours ${files.get(path)?.version}\n`),
            lineChanges: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1 }],
          })),
          result: undefined,
        };
      },
      place.scope,
    );
    await expectError(attempt, "conflict", "changed");
    expect(readFileSync(join(place.root, "a"), "utf8")).toBe("theirs\n");
    expect(readFileSync(join(place.root, "b"), "utf8")).toBe("b\n");
  });

  it("that only touches the file is no conflict", async () => {
    await using place = await arena({ a: "a\n" });
    const { utimesSync } = await import("node:fs");
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir, fsync: false });
    await workspace.edit(
      ["a"],
      () => {
        utimesSync(join(place.root, "a"), 1, 1);
        return {
          changes: [
            {
              kind: "replace",
              path: "a",
              bytes: Buffer.from("b\n"),
              lineChanges: [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1 }],
            },
          ],
          result: undefined,
        };
      },
      place.scope,
    );
    expect(readFileSync(join(place.root, "a"), "utf8")).toBe("b\n");
  });

  it("that creates the file to be created is a conflict, and its bytes are kept", async () => {
    await using place = await arena();
    await using workspace = createWorkspace({ root: place.root, lockDir: place.lockDir, fsync: false });
    const attempt = workspace.edit(
      ["new", "other"],
      () => {
        writeFileSync(join(place.root, "new"), "theirs\n");
        return { changes: [create("other", "x\n"), create("new", "ours\n")], result: undefined };
      },
      place.scope,
    );
    await expectError(attempt, "conflict");
    expect(readdirSync(place.root).sort()).toEqual([".toolhaft", "new"]);
    expect(readFileSync(join(place.root, "new"), "utf8")).toBe("theirs\n");
    await change(workspace, [create("other", "x\n")], place.scope);
  });
});
