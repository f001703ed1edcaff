import { spawn } from "node:child_process";
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { snapshotOf } from "@toolhaft/testing";
import { expect } from "vitest";
import { createWorkspace, nodeFileSystem, type Recovery } from "../src/index.ts";
import { countingFileSystem } from "./fixtures/counting-file-system.mjs";
import { run, setUp } from "./fixtures/scenarios.mjs";

const program = fileURLToPath(new URL("./fixtures/killed.mjs", import.meta.url));

/** A tree with its own lock folder. */
export interface Place {
  readonly root: string;
  readonly lockDir: string;
}

export async function newPlace(): Promise<Place & AsyncDisposable> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-kill-")));
  const root = join(folder, "root");
  await mkdir(root);
  setUp(root);
  return {
    root,
    lockDir: join(folder, "locks"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

const AT_ONCE = 3;

/** Does all of it, a few at a time: a child that is killed waits for the disk more than it works. */
export async function inTurns<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

export interface KillOrder {
  scenario: string;
  killAt: number;
  fsync: boolean;
  failAt?: number;
}

/** Runs the child; its report when it lived to the end, `undefined` when it was killed. */
export async function runChild(
  place: Place,
  order: KillOrder,
): Promise<{ outcome: string; calls: number } | undefined> {
  const child = spawn(process.execPath, [program, JSON.stringify({ ...order, ...place })], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => {
    output += chunk.toString();
  });
  const signal = await new Promise<NodeJS.Signals | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (_, by) => resolve(by));
  });
  if (signal === "SIGKILL") return undefined;
  return JSON.parse(output);
}

export interface Call {
  readonly name: string;
  readonly args: readonly unknown[];
}

/** The file-system calls of a scenario, made in this process: a child makes the same ones. */
export async function callsOf(scenario: string, fsync: boolean, failAt = 0): Promise<readonly Call[]> {
  await using place = await newPlace();
  const calls: Call[] = [];
  const fileSystem = countingFileSystem(nodeFileSystem, (call, name, args) => {
    calls.push({ name, args });
    if (call === failAt) throw Object.assign(new Error("EIO: injected"), { code: "EIO" });
  });
  await using workspace = createWorkspace({ ...place, fsync, fileSystem });
  await run(workspace, place.root, scenario).catch((error: unknown) => {
    if (failAt === 0) throw error;
  });
  return [...calls];
}

/** What a tree is: names, modes, contents, and how many names each inode has. */
export function treeOf(root: string): string {
  const links = (path: string) => {
    const stat = lstatSync(join(root, path));
    return stat.isFile() ? ` x${stat.nlink}` : "";
  };
  return [...snapshotOf(root)].map(([path, what]) => `${path} ${what}${links(path)}`).join("\n");
}

/** The next use of the workspace after a crash. */
export async function recoverHere(place: Place): Promise<readonly Recovery[]> {
  await using workspace = createWorkspace({ ...place, fsync: false });
  const recoveries = await workspace.recover();
  expect(await workspace.recover()).toEqual([]);
  return recoveries;
}

/** No temporary file, lock, token, unfinished journal or staged file is left. */
export function expectNothingLeft({ root, lockDir }: Place): void {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" });
  expect(names.filter((name) => name.includes(".toolhaft-"))).toEqual([]);
  expect(existsSync(lockDir) ? readdirSync(lockDir) : []).toEqual([]);
  const state = join(root, ".toolhaft", "workspace");
  const commits = join(state, "commits");
  for (const id of existsSync(commits) ? readdirSync(commits) : []) {
    const files = readdirSync(join(commits, id));
    expect(files.filter((name) => name.endsWith(".json"))).toEqual(["done.json"]);
    expect(() => JSON.parse(readFileSync(join(commits, id, "done.json"), "utf8"))).not.toThrow();
  }
  const staged = join(state, "staged");
  expect(existsSync(staged) ? readdirSync(staged) : []).toEqual([]);
}
