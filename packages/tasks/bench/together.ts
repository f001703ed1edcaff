import { runTogether } from "@toolhaft/testing";

const worker = new URL("./worker.ts", import.meta.url);

/** Lets processes work one store until it is empty; gives the cost of one task. */
export async function workTogether(
  side: "ours" | "bare",
  path: string,
  processes: number,
): Promise<{ cpuMs: number; wallMs: number }> {
  const { answers, wallMs } = await runTogether<{ done: number; cpuMs: number }>(
    worker,
    Array.from({ length: processes }, () => [side, path]),
  );
  const done = answers.reduce((sum, part) => sum + part.done, 0);
  return { cpuMs: answers.reduce((sum, part) => sum + part.cpuMs, 0) / done, wallMs: wallMs / done };
}
