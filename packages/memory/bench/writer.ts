// One of several processes that write notes into one file. It begins when it is told to, and says when it is done.
import { createContext } from "@toolhaft/core";
import { createMemory } from "../src/index.ts";

const [path = "", name = "", count = "0"] = process.argv.slice(2);
const family = createMemory({ path, lockTimeoutMs: 120_000 });
const write = family.tools.find((tool) => tool.name === "memory_write");
const context = createContext({ directory: process.cwd(), agent: "bench", sessionId: name });
process.once("message", async () => {
  for (let n = 0; n < Number(count); n++) {
    const input = { title: `${name} ${n}`, content: `what ${name} found at place ${n}`, scope: "workspace" };
    const result = await write?.call(input, context);
    if (result?.ok !== true) throw new Error(result?.text);
  }
  await family.close();
  process.send?.({ done: Number(count) }, () => process.disconnect());
});
process.send?.({ ready: true });
