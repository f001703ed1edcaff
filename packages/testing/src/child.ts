import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestFinished } from "vitest";

export interface Child {
  process: ChildProcess;
  lines: string[];
  stderr(): string;
  ended: Promise<number | string | null>;
  /** Resolves when so many lines were said, or the process has ended. */
  hasLines(count: number): Promise<void>;
}

/** Starts a program of a test as a real process, killed when the test ends; what it imports are the built packages. `node`: another one than runs the tests. */
export function startChild(file: string, args: readonly string[], node = process.execPath): Child {
  const child = spawn(node, [file, ...args], { stdio: ["pipe", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  let waiting: { count: number; resolve: () => void }[] = [];
  let over = false;
  const wake = () => {
    const ready = waiting.filter(({ count }) => over || lines.length >= count);
    waiting = waiting.filter((wait) => !ready.includes(wait));
    for (const { resolve } of ready) resolve();
  };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => {
    over = true;
    wake();
    return (code ?? signal) as number | string | null;
  });
  return {
    process: child,
    lines,
    stderr: () => stderr,
    ended,
    hasLines: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        wake();
      }),
  };
}
