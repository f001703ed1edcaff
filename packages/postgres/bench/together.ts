import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));

export interface Run {
  processes: number;
  /** Loops in each process. */
  loops: number;
  /** Tasks of one claim. */
  atOnce: number;
}

/** Lets processes work one store until it is empty; gives tasks a second, and the workers' CPU for one task. */
export async function workTogether(
  side: "ours" | "bare",
  connectionString: string,
  schema: string,
  { processes, loops, atOnce }: Run,
): Promise<{ rate: number; cpuMs: number }> {
  const words = [side, connectionString, schema, String(loops), String(atOnce)];
  const children = Array.from({ length: processes }, () => fork(worker, words, { execArgv: process.execArgv }));
  await Promise.all(children.map(said));
  const answers = children.map(said) as Promise<[{ done: number; cpuMs: number }]>[];
  const start = performance.now();
  for (const child of children) child.send("begin");
  const parts = (await Promise.all(answers)).map(([part]) => part);
  const seconds = (performance.now() - start) / 1_000;
  const done = parts.reduce((sum, part) => sum + part.done, 0);
  return { rate: done / seconds, cpuMs: parts.reduce((sum, part) => sum + part.cpuMs, 0) / done };
}

/** The next word of a child; one that ends without it failed. */
export async function said(child: ChildProcess): Promise<unknown[]> {
  const gone = new AbortController();
  const ended = once(child, "exit", { signal: gone.signal }).then(([code]) => {
    throw new Error(`a process of the bench ended with ${code}`);
  });
  try {
    return await Promise.race([once(child, "message"), ended]);
  } finally {
    ended.catch(() => undefined);
    gone.abort();
  }
}
