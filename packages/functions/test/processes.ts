import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const folder = fileURLToPath(new URL("./fixtures/", import.meta.url));

export interface Child {
  process: ChildProcess;
  lines: string[];
  stderr(): string;
  ended: Promise<number | string | null>;
  hasLines(count: number): Promise<void>;
}

/** Starts a fixture as a real process; it imports the built packages. */
export function startFixture(name: string, args: readonly string[]): Child {
  const child = spawn(process.execPath, [`${folder}${name}`, ...args], { stdio: ["pipe", "pipe", "pipe"] });
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
