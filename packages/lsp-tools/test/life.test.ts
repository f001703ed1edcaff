import { fileURLToPath } from "node:url";
import { descendants, identify, isRunning, type ProcessIdentity } from "@toolhaft/process";
import { long, startChild, tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import { until } from "./support/fake.ts";
import "./support/family.ts"; // puts the servers of the tests on the PATH
import { typescriptProject } from "./support/projects.ts";

const support = (name: string) => fileURLToPath(new URL(`support/${name}`, import.meta.url));

/** Ignores SIGTERM and the end of its input, and has a child that does, too. */
const stubborn = `import { spawn } from "node:child_process";
export default async (server) => {
  process.on("SIGTERM", () => {});
  server.stubborn = true;
  const child = spawn(process.execPath, ["-e", "process.on('SIGTERM',()=>{});setInterval(()=>{},1e6);console.log('up')"], { stdio: ["ignore", "pipe", "ignore"] });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  server.capabilities.diagnosticProvider = {};
  server.on("textDocument/diagnostic", () => ({ kind: "full", items: [] }));
};`;

/** Starts a program that makes one call on its servers and then ends in some way; gives all processes below it. */
async function start(directory: string, scenario: string, way: string, signal: string | undefined) {
  // the ways differ for the host: in the short suite two of them meet the real servers
  const real = long || signal === "SIGKILL" || way === "end";
  const servers = {
    ...(!real && { typescript: false, "typescript-native": false, vtsls: false, biome: false }),
    stubborn: {
      command: process.execPath,
      args: [support("fake-server.mjs"), scenario],
      files: [{ languageId: "typescript", extensions: [".ts"] }],
      role: "linter",
      ready: { by: "none" },
    },
  };
  const host = startChild(support("host.mjs"), [directory, way, JSON.stringify(servers)]);
  await host.hasLines(1);
  expect(host.lines, host.stderr()).toHaveLength(1);
  const { pids } = JSON.parse(host.lines[0] ?? "") as { pids: number[] };
  const below = new Map<number, ProcessIdentity>();
  // the fake and its child, the watchdog; typescript-language-server and tsserver, biome's proxy and daemon
  const most = real ? 7 : 3;
  await until(async () => {
    for (const pid of [host.process.pid ?? 0, ...pids])
      for (const one of await descendants(pid)) below.set(one.pid, one);
    for (const pid of pids) {
      const one = await identify(pid);
      if (one) below.set(pid, one);
    }
    return below.size >= most;
  });
  return { host, processes: [...below.values()] };
}

test.each([
  ["ends by itself, though it never closes the family", "end", undefined],
  ["ends by an uncaught exception", "throw", undefined],
  ["calls process.exit", "exit", undefined],
  ["gets SIGTERM", "wait", "SIGTERM"],
  ["is killed", "wait", "SIGKILL"],
] as const)("no server, child or grandchild is left when the host %s", async (_, way, signal) => {
  await using tools = await tempWorkspace({ "stubborn.mjs": stubborn });
  await using workspace = await tempWorkspace({ ...typescriptProject, "biome.json": "{}\n" });
  const { host, processes } = await start(workspace.directory, tools.path("stubborn.mjs"), way, signal);
  if (signal) host.process.kill(signal);
  else host.process.stdin?.end();
  await host.ended;
  for (const one of processes) await until(async () => !(await isRunning(one)));
});
