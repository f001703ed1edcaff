import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

export interface Child {
  process: ChildProcess;
  /** Whole lines of stdout so far. */
  lines: string[];
  stderr(): string;
  /** Resolves with the exit code, or the signal that ended it. */
  ended: Promise<number | string | null>;
  /** Resolves when stdout has held `count` lines. */
  hasLines(count: number): Promise<void>;
}

/** Starts a fixture as a real process; it imports the built package. */
export function startFixture(name: string, args: readonly string[]): Child {
  const file = fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url));
  const child = spawn(process.execPath, [file, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const lines: string[] = [];
  let rest = "";
  let stderr = "";
  let waiting: { count: number; resolve: () => void }[] = [];
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    const parts = (rest + text).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake(false);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  const ended = once(child, "close").then(([code, signal]) => {
    wake(true);
    return code ?? signal;
  });
  return {
    process: child,
    lines,
    stderr: () => stderr,
    ended,
    hasLines: (count) =>
      new Promise((resolve) => {
        waiting.push({ count, resolve });
        wake(child.exitCode !== null);
      }),
  };

  function wake(all: boolean): void {
    const [ready, later] = [[], []] as [typeof waiting, typeof waiting];
    for (const wait of waiting) (all || lines.length >= wait.count ? ready : later).push(wait);
    waiting = later;
    for (const wait of ready) wait.resolve();
  }
}
