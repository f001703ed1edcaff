import { type ChildProcess, spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { AnyTool } from "@toolhaft/core";
import { expect } from "vitest";
import { tempWorkspace } from "../temp-workspace.ts";
import type { ToolFixtures } from "./fixtures.ts";

/** Where a child process finds the function that makes the family. */
export interface ProcessModule {
  /** `new URL("../src/index.ts", import.meta.url)`. */
  module: URL;
  /** Name of the exported function: `createNotes`. */
  factory: string;
  /** Given to it, as JSON. */
  options?: unknown;
}

interface ChildResult {
  tool: string;
  ok: boolean;
  code?: string;
  text: string;
}

/** Two processes that lose a race may say so; nothing else may go wrong. */
const fair = ["conflict", "timeout", "not_found"];

/** Both processes make every plain valid call of every tool, at the same time, in one workspace. */
export async function checkTwoProcesses(
  tools: readonly AnyTool[],
  fixtures: Readonly<Record<string, ToolFixtures>>,
  from: ProcessModule,
): Promise<void> {
  const calls = tools.flatMap((tool) =>
    (fixtures[tool.name]?.valid ?? [])
      .filter(({ input, prepare }) => typeof input !== "function" && prepare === undefined)
      .map(({ input }) => ({ tool: tool.name, input })),
  );
  const files = Object.assign(
    {},
    ...tools.flatMap((tool) => [
      fixtures[tool.name]?.files ?? {},
      ...(fixtures[tool.name]?.valid ?? []).map((fixture) => fixture.files ?? {}),
    ]),
  );
  await using workspace = await tempWorkspace(files);
  const job = {
    module: from.module.href,
    factory: from.factory,
    options: from.options ?? {},
    directory: workspace.directory,
    calls,
  };
  const children = [start(job), start(job)];
  try {
    const readers = children.map((child) => reader(child));
    await Promise.all(readers.map(({ ready }) => ready));
    for (const child of children) child.stdin?.end("go\n");
    const results = (await Promise.all(readers.map(({ results }) => results))).flat();
    expect(results.length).toBe(calls.length * 2);
    expect(results.filter(({ ok, code }) => !ok && !fair.includes(code ?? ""))).toEqual([]);
    expect(results.some(({ ok }) => ok)).toBe(true);
  } finally {
    for (const child of children) child.kill("SIGKILL");
  }
}

function start(job: unknown): ChildProcess {
  const root = new URL("../../../../", import.meta.url);
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
  const script = fileURLToPath(new URL("./process-child.ts", import.meta.url));
  const env = { ...process.env, TSX_TSCONFIG_PATH: fileURLToPath(new URL("tsconfig.json", root)) };
  return spawn(process.execPath, ["--import", loader, script, JSON.stringify(job)], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
}

function reader(child: ChildProcess): { ready: Promise<void>; results: Promise<ChildResult[]> } {
  let isReady = (): void => undefined;
  let hasFailed = (_error: Error): void => undefined;
  const ready = new Promise<void>((resolve, reject) => {
    isReady = resolve;
    hasFailed = reject;
  });
  const results = new Promise<ChildResult[]>((resolve, reject) => {
    const found: ChildResult[] = [];
    if (child.stdout === null) throw new Error("the child has no output");
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "ready") isReady();
      else found.push(JSON.parse(line));
    });
    child.once("error", reject);
    child.once("close", (code) => {
      const error = new Error(`the child process ended with ${code}`);
      hasFailed(error);
      if (code === 0) resolve(found);
      else reject(error);
    });
  });
  return { ready, results };
}
