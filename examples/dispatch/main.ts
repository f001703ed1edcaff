// Hand work to two command-line agents at once and read their answers: npx tsx examples/dispatch/main.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDispatch, processRunner } from "@toolhaft/dispatch";

/** A dispatcher over one agent program; a preset such as `claude({ access: "read-only" })` stands in the same place. */
export const open = () =>
  createDispatch({
    agents: [
      {
        name: "counter",
        description: "Counts the words of its assignment.",
        runner: processRunner({ command: process.execPath, args: [join(import.meta.dirname, "agent.mjs")] }),
      },
    ],
  });

/** Launches both in the background, waits for both, and gives the texts of all calls. */
export async function run(directory: string): Promise<string[]> {
  await using dispatch = open();
  const texts: string[] = [];
  const call = async (name: string, input: object) => {
    const tool = dispatch.tools.find((one) => one.name === name);
    const result = await tool?.call(input, { directory, sessionId: "example" });
    if (result?.ok !== true) throw new Error(result?.text ?? `no tool ${name}`);
    texts.push(result.text);
    return result.data as { taskId: string };
  };
  const prompts = ["Count these words please", "And count these, which are more, as well"];
  const ids: string[] = [];
  for (const prompt of prompts)
    ids.push((await call("dispatch", { subagent: "counter", prompt, run_in_background: true })).taskId);
  for (const task_id of ids) await call("dispatch_output", { task_id, wait_ms: 60_000 });
  await call("dispatch_stream", { task_id: ids[0] });
  await call("dispatch_status", {});
  return texts;
}

if (process.argv[1] === import.meta.filename) {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-dispatch-"));
  try {
    for (const text of await run(directory)) console.log(`${text}\n`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
