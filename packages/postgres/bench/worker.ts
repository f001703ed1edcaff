// One of several processes that work a store until it is empty. It begins when it is told to, and says what it did.
import { postgresTasks } from "../src/tasks.ts";
import { bareQueue } from "./bare.ts";
import { inFlight, workOurs } from "./work.ts";

const [side = "", connectionString = "", schema = "", loops = "10", atOnce = "1"] = process.argv.slice(2);
const backend = side === "ours" ? postgresTasks({ connectionString, schema, max: 10 }) : undefined;
const bare = backend === undefined ? await bareQueue(connectionString, schema) : undefined;
const step = (loop: number): Promise<number> => {
  const worker = `${process.pid}-${loop}`;
  if (backend !== undefined) return workOurs(backend, worker, Number(atOnce));
  return bare?.work(worker) ?? Promise.resolve(0);
};
await step(0);
process.once("message", async () => {
  const start = process.cpuUsage();
  const done = await inFlight(Number(loops), step);
  const { user, system } = process.cpuUsage(start);
  await backend?.close();
  await bare?.close();
  process.send?.({ done, cpuMs: (user + system) / 1_000 }, () => process.disconnect());
});
process.send?.({ ready: true });
