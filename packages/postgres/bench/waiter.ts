// Claims what is posted as soon as it hears of it, and says so.
import { postgresTasks } from "../src/tasks.ts";
import { workOurs } from "./work.ts";

const [connectionString = "", schema = ""] = process.argv.slice(2);
const backend = postgresTasks({ connectionString, schema });
let looking: Promise<void> | undefined;
const listening = await backend.queue.onChange(() => {
  looking ??= (async () => {
    while ((await workOurs(backend, "waiter", 1)) > 0) process.send?.({ taken: true });
  })().finally(() => {
    looking = undefined;
  });
});
process.once("message", async () => {
  await listening[Symbol.asyncDispose]();
  await looking;
  await backend.close();
  process.disconnect();
});
process.send?.({ ready: true });
