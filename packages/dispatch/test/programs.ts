import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@toolhaft/testing";

/** A program of the tests, and what it says. */
export interface Program extends Pick<Child, "process" | "lines"> {
  /** @throws when it ends without having said it so often */
  said(test: (line: string) => boolean, count?: number): Promise<void>;
  kill(): Promise<void>;
}

export function program(file: string, args: readonly string[]): Program {
  const child = startChild(fileURLToPath(new URL(`./fixtures/${file}`, import.meta.url)), args);
  const { lines } = child;
  let over = false;
  void child.ended.then(() => {
    over = true;
  });
  return {
    process: child.process,
    lines,
    async said(test, count = 1) {
      while (lines.filter(test).length < count) {
        if (over) throw new Error(`${file} has ended: ${child.stderr()}`);
        await child.hasLines(lines.length + 1);
      }
    },
    async kill() {
      child.process.kill("SIGKILL");
      await child.ended;
    },
  };
}

/** A program with a dispatcher on a folder; it imports the built packages. */
export function host(directory: string, options: object): Program {
  return program("host.mjs", [directory, JSON.stringify(options)]);
}
