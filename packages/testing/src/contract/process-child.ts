import { once } from "node:events";
import { createContext, type Family } from "@toolhaft/core";

/** One of two processes that use a family at the same time: waits for the start, makes its calls, prints the results. */
interface Job {
  module: string;
  factory: string;
  options: unknown;
  directory: string;
  calls: readonly { tool: string; input: unknown }[];
}

const job = JSON.parse(process.argv[2] ?? "{}") as Job;
const module = (await import(job.module)) as Record<string, ((options: unknown) => Family) | undefined>;
const make = module[job.factory];
if (make === undefined) throw new Error(`${job.module} exports no ${job.factory}`);
const family = make(job.options);
const context = createContext({ directory: job.directory });
console.log("ready");
await once(process.stdin, "data");
for (const { tool: name, input } of job.calls) {
  const tool = family.tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  const result = await tool.call(input, context);
  console.log(
    JSON.stringify({ tool: name, ok: result.ok, text: result.text, ...(result.ok ? {} : { code: result.error.code }) }),
  );
}
await family.close();
