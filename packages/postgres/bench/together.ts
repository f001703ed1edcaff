import { runTogether } from "@toolhaft/testing";

const worker = new URL("./worker.ts", import.meta.url);

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
  const { answers, wallMs } = await runTogether<{ done: number; cpuMs: number }>(
    worker,
    Array.from({ length: processes }, () => words),
  );
  const done = answers.reduce((sum, part) => sum + part.done, 0);
  return { rate: done / (wallMs / 1_000), cpuMs: answers.reduce((sum, part) => sum + part.cpuMs, 0) / done };
}
