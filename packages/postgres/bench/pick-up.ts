import { once } from "node:events";
import { nextWord, startBenchProcess } from "@toolhaft/testing";
import { postgresTasks } from "../src/tasks.ts";
import { task } from "./work.ts";

const waiter = new URL("./waiter.ts", import.meta.url);

/** Milliseconds, sorted, from the moment a post returns to the claim by another process that waits for word. */
export async function pickUp(connectionString: string, schema: string, times: number): Promise<number[]> {
  const backend = postgresTasks({ connectionString, schema });
  await backend.store.engines();
  const child = startBenchProcess(waiter, [connectionString, schema]);
  await nextWord(child);
  const waits: number[] = [];
  for (let index = 0; index < times; index++) {
    const taken = nextWord(child);
    await backend.queue.post([task(index)]);
    const start = performance.now();
    await taken;
    waits.push(performance.now() - start);
  }
  const gone = once(child, "exit");
  child.send("end");
  await gone;
  await backend.close();
  return waits.sort((a, b) => a - b);
}
