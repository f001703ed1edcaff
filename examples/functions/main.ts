// A plan, its approval, and the work that follows: npx tsx examples/functions/main.ts
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFunctions } from "@toolhaft/functions";

const files = {
  plan: "description: Write a plan\nproduces: plan\ngate: user_approval\ntransitions: [{when: gate, activate: [execute], deactivate: [plan]}]",
  execute: "description: Do it\nconsumes: plan\ncontinue_until: signal_observed(answer)",
};

/** Runs the workflow in a folder and gives the phases after each step. */
export async function workflow(directory: string): Promise<string[]> {
  mkdirSync(join(directory, ".agents/functions"), { recursive: true });
  for (const [name, lines] of Object.entries(files))
    writeFileSync(join(directory, ".agents/functions", `${name}.md`), `---\n${lines}\n---\nDo ${name}.\n`);
  await using functions = createFunctions({ directory });
  const session = "example";
  const seen: string[] = [];
  const note = async (what: string) => {
    const { functions: all } = await functions.engine.state(session);
    seen.push(`${what}: ${all.map(({ id, phase }) => `${id} ${phase}`).join(", ")}`);
  };
  await functions.engine.step(session, { type: "activate", function: "plan" });
  await note("activated");
  await functions.engine.step(session, { type: "artifact", name: "plan", text: "1. Move the port.\n" });
  await functions.engine.step(session, { type: "approval", decision: "approved", by: "Ada" });
  await note("approved");
  const signal = functions.tools.find(({ name }) => name === "signal");
  const context = { directory, sessionId: session, agent: "worker" };
  await signal?.call({ type: "need_approval", payload: { question: "Restart the database?" } }, context);
  await note("asked");
  const pause = await functions.signals.openPause(session);
  await functions.engine.step(session, { type: "resolve", seq: pause?.seq ?? -1, by: "Ada" });
  await note("resolved");
  await signal?.call({ type: "answer" }, context);
  await note("answered");
  return seen;
}

if (process.argv[1] === import.meta.filename) {
  const directory = mkdtempSync(join(tmpdir(), "toolhaft-functions-"));
  try {
    for (const line of await workflow(directory)) console.log(line);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
