import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const worker = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** Lets processes work one store until it is empty; gives the cost of one task. */
export async function workTogether(
  side: "ours" | "bare",
  path: string,
  processes: number,
): Promise<{ cpuMs: number; wallMs: number }> {
  const children = Array.from({ length: processes }, () => fork(worker, [side, path], { execArgv: process.execArgv }));
  await Promise.all(children.map((child) => once(child, "message")));
  const answers = children.map((child) => once(child, "message") as Promise<[{ done: number; cpuMs: number }]>);
  const start = performance.now();
  for (const child of children) child.send("begin");
  const parts = (await Promise.all(answers)).map(([part]) => part);
  const wall = performance.now() - start;
  const done = parts.reduce((sum, part) => sum + part.done, 0);
  return { cpuMs: parts.reduce((sum, part) => sum + part.cpuMs, 0) / done, wallMs: wall / done };
}
