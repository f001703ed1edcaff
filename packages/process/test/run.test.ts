import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { childEnvironment } from "../src/environment.ts";
import { runProgram } from "../src/run.ts";
import { until } from "./wait.ts";

const run = (code: string, more: Partial<Parameters<typeof runProgram>[0]> = {}) =>
  runProgram({ command: process.execPath, args: ["-e", code], cwd: process.cwd(), env: childEnvironment(), ...more });

test("gives output and exit code; a failure is a result", async () => {
  const result = await run("process.stdin.pipe(process.stdout); console.error('warn'); process.exitCode = 4", {
    input: "hello 日本",
  });
  expect(result).toEqual({ code: 4, signal: null, stdout: "hello 日本", stderr: "warn\n" });
});

test("a program that does not end is ended", async () => {
  await expect(run("setInterval(() => {}, 1e6)", { timeoutMs: 300 })).rejects.toMatchObject({ code: "timeout" });
});

test("an abort ends it, before or during the run", async () => {
  const folder = await mkdtemp(join(tmpdir(), "toolhaft-run-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const controller = new AbortController();
  const mark = join(folder, "runs");
  const running = run(`require("fs").writeFileSync(${JSON.stringify(mark)}, ""); setInterval(() => {}, 1e6)`, {
    signal: controller.signal,
  });
  await until(() => existsSync(mark));
  controller.abort();
  await expect(running).rejects.toMatchObject({ code: "cancelled" });
  await expect(run("0", { signal: controller.signal })).rejects.toMatchObject({ code: "cancelled" });
});

test("endless output is bounded", async () => {
  await expect(run("for (;;) require('fs').writeSync(1, 'x'.repeat(65536))", { maxBytes: 1e6 })).rejects.toMatchObject({
    code: "too_large",
  });
});

test("keeps what a very short program printed, however late anybody looks", async () => {
  for (let round = 0; round < 20; round++) {
    const { stdout } = await runProgram({
      command: "echo",
      args: [`round ${round}`],
      cwd: ".",
      env: childEnvironment(),
    });
    expect(stdout).toBe(`round ${round}\n`);
  }
});
