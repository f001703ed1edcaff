import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "tsup";
import { onTestFinished } from "vitest";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const source = fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url));
const cache = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));
let worker = "";

/** Bundles the worker from the sources once: thirty processes that each compile it would take minutes. */
export async function buildWorker(): Promise<() => void> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "worker-"));
  await build({
    entry: { worker: source },
    outDir: folder,
    format: "esm",
    target: "node20",
    silent: true,
    config: false,
    clean: false,
    dts: false,
    noExternal: [/^@toolhaft\//],
    external: ["better-sqlite3"],
    outExtension: () => ({ js: ".mjs" }),
    esbuildOptions(options) {
      options.alias = Object.fromEntries(
        ["core", "sqlite", "workspace", "text"].map((name) => [`@toolhaft/${name}`, `${packages}${name}/src/index.ts`]),
      );
    },
  });
  worker = join(folder, "worker.mjs");
  return () => rmSync(folder, { recursive: true, force: true });
}

export interface Child {
  process: ChildProcess;
  lines: string[];
  stderr(): string;
  ended: Promise<number | string | null>;
  /** Resolves when so many lines were said, or the process has ended. */
  hasLines(count: number): Promise<void>;
  tell(line: string): void;
}

/** Starts the worker as a real process. */
export function startWorker(...args: readonly (string | number)[]): Child {
  const child = spawn(process.execPath, [worker, ...args.map(String)], {
    stdio: ["pipe", "pipe", "pipe"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  let over = false;
  let wake: (() => void)[] = [];
  const look = () => {
    const ready = wake;
    wake = [];
    for (const one of ready) one();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    look();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => undefined);
  const ended = once(child, "close").then(([code, signal]) => {
    over = true;
    look();
    return (code ?? signal) as number | string | null;
  });
  return {
    process: child,
    lines,
    stderr: () => stderr,
    ended,
    async hasLines(count) {
      while (lines.length < count && !over) await new Promise<void>((resolve) => void wake.push(resolve));
      if (lines.length < count) throw new Error(`the worker ended early: ${stderr}`);
    },
    tell: (line) => void child.stdin.write(`${line}\n`),
  };
}
