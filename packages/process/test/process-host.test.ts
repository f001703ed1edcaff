import { spawn } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";
import { childEnvironment } from "../src/environment.ts";
import { identify, isRunning, type ProcessIdentity } from "../src/identity.ts";
import { createProcessHost, type ProcessHost } from "../src/process-host.ts";
import { descendants, groupIsAlive } from "../src/tree.ts";
import { until, untilGone } from "./wait.ts";

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url));
const env = childEnvironment();
const cwd = process.cwd();
const folder = await mkdtemp(join(tmpdir(), "toolhaft-process-"));
afterAll(() => rm(folder, { recursive: true }));

const node = (host: ProcessHost, code: string) =>
  host.start({ command: process.execPath, args: ["-e", code], cwd, env });
const firstLine = (stream: NodeJS.ReadableStream | undefined) =>
  new Promise<string>((resolve) => stream?.once("data", (text) => resolve(String(text))));
const identities = async (pids: readonly number[]) => {
  const found = await Promise.all(pids.map(identify));
  return found.filter((one): one is ProcessIdentity => one !== undefined);
};

test("a child leads its own group and gets exactly the environment it was given", async () => {
  await using host = createProcessHost();
  process.env.TOOLHAFT_TEST_TOKEN = "leak";
  const child = await node(host, "console.log(JSON.stringify(process.env))");
  const seen = JSON.parse(await firstLine(child.stdout)) as Record<string, string>;
  delete process.env.TOOLHAFT_TEST_TOKEN;
  expect(seen.TOOLHAFT_TEST_TOKEN).toBeUndefined();
  expect(seen.PATH).toBe(process.env.PATH);
  expect(await child.exited).toEqual({ code: 0, signal: null });
});

test("stop ends the child, its children and those that left the group, though all ignore SIGTERM", async () => {
  await using host = createProcessHost();
  const child = await host.start({ command: process.execPath, args: [fixture("stubborn.mjs")], cwd, env });
  const all = await identities(JSON.parse(await firstLine(child.stdout)) as number[]);
  expect(all).toHaveLength(3);
  expect((await descendants(child.pid)).map((one) => one.pid).sort()).toEqual(
    all
      .slice(1)
      .map((one) => one.pid)
      .sort(),
  );
  await child.stop({ graceMs: 200 });
  expect(await Promise.all(all.map(isRunning))).toEqual([false, false, false]);
  expect(await groupIsAlive(child.pid)).toBe(false);
  expect(host.children).toEqual([]);
});

test("stop twice, and stop after the end, are harmless", async () => {
  await using host = createProcessHost();
  const child = await node(host, "setInterval(() => {}, 1e6)");
  await Promise.all([child.stop(), child.stop()]);
  await child.stop();
  expect(child.exit).toEqual({ code: null, signal: "SIGTERM" });
});

test("what a child leaves in its group goes when the child ends", async () => {
  await using host = createProcessHost();
  const child = await node(
    host,
    "const c=require('child_process').spawn(process.execPath,['-e','setInterval(()=>{},1e6)'],{stdio:'ignore'});c.unref();console.log(c.pid);process.stdin.resume().on('end',()=>process.exit(3))",
  );
  const left = await identities([Number(await firstLine(child.stdout))]);
  expect(left).toHaveLength(1);
  child.stdin?.end();
  expect((await child.exited).code).toBe(3);
  await untilGone(left);
});

test("a failed start says what is wrong", async () => {
  await using host = createProcessHost();
  await expect(host.start({ command: "toolhaft-no-such-program", cwd, env })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("not installed or not on the PATH"),
  });
  await expect(host.start({ command: process.execPath, cwd: "/no/such/folder", env })).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("there is no folder /no/such/folder"),
  });
  await expect(host.start({ command: fixture("stubborn.mjs"), cwd, env })).rejects.toMatchObject({
    code: "unavailable",
    hint: expect.stringContaining("chmod +x"),
  });
  expect(host.children).toEqual([]);
});

test("stderr is kept as a tail; stdout can go to a file", async () => {
  await using host = createProcessHost();
  const file = join(folder, "out.log");
  const child = await host.start({
    command: process.execPath,
    args: ["-e", "console.error('x'.repeat(200000)); console.error('last words'); console.log('to the file')"],
    cwd,
    env,
    stdout: { file },
  });
  await child.exited;
  expect(child.stdout).toBeUndefined();
  expect(await readFile(file, "utf8")).toBe("to the file\n");
  expect(child.stderrTail.lines(1)).toEqual(["last words"]);
  expect(child.stderrTail.text().length).toBeLessThanOrEqual(64 * 1024);
});

test("a child that outlives its host is not ended with it", async () => {
  const host = createProcessHost();
  const child = await host.start({
    command: process.execPath,
    args: ["-e", "setInterval(() => {}, 1e6)"],
    cwd,
    env,
    stdin: "ignore",
    stdout: { file: join(folder, "outlives.log") },
    stderr: "ignore",
    outlivesHost: true,
  });
  await host.close();
  expect(await isRunning(child.identity)).toBe(true);
  await child.stop();
});

test("a closed host starts nothing", async () => {
  const host = createProcessHost();
  await host.close();
  await expect(node(host, "0")).rejects.toMatchObject({ code: "unavailable" });
});

test("a pid with another start time is another process", async () => {
  const self = await identify(process.pid);
  expect(self && (await isRunning(self))).toBe(true);
  expect(await isRunning({ pid: process.pid, start: "1" })).toBe(false);
  expect(await identify(2 ** 22 + 1)).toBeUndefined();
});

test("the watchdog is started once, is replaced when it dies, and goes with the host", async () => {
  const host = createProcessHost();
  const one = await node(host, "setInterval(() => {}, 1e6)");
  const first = host.watchdogPid;
  await node(host, "setInterval(() => {}, 1e6)");
  expect(host.watchdogPid).toBe(first);
  process.kill(Number(first), "SIGKILL");
  await until(() => host.watchdogPid !== undefined && host.watchdogPid !== first);
  const second = await identities([Number(host.watchdogPid)]);
  await host.close();
  expect(await isRunning(one.identity)).toBe(false);
  await untilGone(second);
});

test.each([
  ["ends normally", "end", undefined, undefined],
  ["throws", "throw", undefined, undefined],
  ["gets SIGTERM", "wait", "SIGTERM", undefined],
  ["gets SIGKILL", "wait", "SIGKILL", undefined],
  ["gets SIGKILL, with the Node watchdog", "wait", "SIGKILL", "node"],
] as const)("no child is left when the host %s", async (_, way, signal, kind) => {
  const host = spawn(process.execPath, [fixture("host.mjs"), fixture("stubborn.mjs"), way, ...(kind ? [kind] : [])], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const { pids, watchdog } = JSON.parse(await firstLine(host.stdout)) as { pids: number[]; watchdog: number };
  // the third child left the group on purpose: only `stop` can follow it
  const group = await identities([...pids.slice(0, 2), watchdog]);
  if (signal) host.kill(signal);
  else host.stdin?.end();
  await new Promise((resolve) => host.once("exit", resolve));
  await untilGone(group);
  process.kill(pids[2] ?? 0, "SIGKILL");
});
