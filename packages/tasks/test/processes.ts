import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const loader = fileURLToPath(new URL("../../testing/run/typescript-loader.mjs", import.meta.url));
const worker = fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url));

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
  const child = spawn(process.execPath, ["--import", loader, worker, ...args.map(String)], {
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
