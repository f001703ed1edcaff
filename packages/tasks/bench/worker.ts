// One of several processes that work a store until it is empty. It begins when it is told to, and says what it took.
import { sqliteTasks } from "../src/index.ts";
import { bareQueue } from "./bare.ts";
import { work } from "./ours.ts";

const [side = "", path = ""] = process.argv.slice(2);
const atOnce = 10;
const backend = side === "ours" ? sqliteTasks({ path }) : undefined;
const bare = backend === undefined ? bareQueue(path) : undefined;
const step = () => (backend === undefined ? (bare?.work(atOnce) ?? 0) : work(backend, atOnce));
await step();
process.once("message", async () => {
  const start = process.cpuUsage();
  let done = 0;
  for (let more = await step(); more > 0; more = await step()) done += more;
  const { user, system } = process.cpuUsage(start);
  await backend?.close();
  bare?.close();
  process.send?.({ done, cpuMs: (user + system) / 1_000 }, () => process.disconnect());
});
process.send?.({ ready: true });
