import { sqliteTasks } from "../src/index.ts";
import { postMany, work } from "./ours.ts";

/** Megabytes in use after so many tasks were posted, claimed and completed through one backend; none without `gc`. */
export async function heapAfter(path: string, counts: readonly number[]): Promise<number[]> {
  if (globalThis.gc === undefined) return [];
  const backend = sqliteTasks({ path });
  const used: number[] = [];
  let done = 0;
  for (const count of counts) {
    await postMany(backend, count - done);
    while (done < count) done += await work(backend, 10);
    globalThis.gc();
    used.push(process.memoryUsage().heapUsed / 1_048_576);
  }
  await backend.close();
  return used;
}
