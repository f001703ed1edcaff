import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { descendants, identify, isRunning, type ProcessIdentity } from "@toolhaft/process";
import { tempWorkspace } from "@toolhaft/testing";
import { test } from "vitest";
import { until } from "./support/fake.ts";
import { serverBin } from "./support/family.ts";
import { typescriptProject } from "./support/projects.ts";

const host = fileURLToPath(new URL("support/host.mjs", import.meta.url));

/** Starts a program that makes one call and then ends in some way; gives all processes below it. */
async function start(directory: string, way: string) {
  const child = spawn(process.execPath, [host, directory, way], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PATH: `${serverBin}:${process.env.PATH}` },
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const text = await new Promise<string>((resolve, reject) => {
    child.stdout.once("data", (data) => resolve(String(data)));
    child.once("exit", () => reject(new Error("the host ended early")));
  });
  const pids = (JSON.parse(text) as { pids: (number | null)[] }).pids.filter((pid) => pid !== null);
  const below = new Map<number, ProcessIdentity>();
  // typescript-language-server and tsserver, biome's proxy and daemon, the watchdog: some of them are slow to show
  await until(async () => {
    for (const pid of [child.pid ?? 0, ...pids]) for (const one of await descendants(pid)) below.set(one.pid, one);
    for (const pid of pids) {
      const one = await identify(pid);
      if (one) below.set(pid, one);
    }
    return below.size >= 4;
  });
  return { child, ended, processes: [...below.values()] };
}

test.each([
  ["ends by itself, though it never closes the family", "end", undefined],
  ["is killed", "wait", "SIGKILL"],
] as const)("no server, child or grandchild is left when the host %s", async (_, way, signal) => {
  await using workspace = await tempWorkspace({ ...typescriptProject, "biome.json": "{}\n" });
  const { child, ended, processes } = await start(workspace.directory, way);
  if (signal) child.kill(signal);
  else child.stdin.end();
  await ended;
  for (const one of processes) await until(async () => !(await isRunning(one)));
});
