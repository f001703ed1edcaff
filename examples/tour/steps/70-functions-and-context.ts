import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { defineStep, type Tour } from "../tour.ts";

const session = "tour-workflow";
const files: Readonly<Record<string, string>> = {
  ".agents/functions/plan.md":
    "---\ndescription: Write a plan and have it approved\nproduces: plan\ngate: user_approval\ntransitions:\n  - {when: gate, activate: [execute], deactivate: [plan]}\n---\nWrite the plan.\n",
  ".agents/functions/execute.md":
    "---\ndescription: Do what the plan says\nconsumes: plan\nrequires_evidence: [tests passed]\ncontinue_until: evidence_met\n---\nDo it.\n",
};

/** Where a function stands, asked over MCP; `none` while it is not active. */
async function phaseOf(tour: Tour, name: string): Promise<string> {
  const { text } = await tour.call("function_state", { session_id: session });
  return new RegExp(`^\\| ${name} \\| (\\w+) \\|`, "m").exec(text)?.[1] ?? "none";
}

export default defineStep({
  title: "Step a small workflow through its gates, then gather what is known",
  needs: ["function_state", "function_graph", "signal", "context_assemble"],
  async run(tour) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(tour.path(name)), { recursive: true });
      writeFileSync(tour.path(name), content);
    }
    await tour.call("function_graph", { focus: "state_machine" });
    // Steps are the host's: a second program over the same file as the server.
    const { createFunctions } = await import("@toolhaft/functions");
    const host = createFunctions({ directory: tour.directory });
    tour.onEnd(() => host.close());
    const step = async (event: Parameters<typeof host.engine.step>[1]) => {
      const { phases, signal } = await host.engine.step(session, event);
      tour.show(`host: step ${JSON.stringify(event)}`, JSON.stringify(phases));
      return signal;
    };
    await step({ type: "activate", function: "plan" });
    tour.check((await phaseOf(tour, "plan")) === "gated", "the plan is not gated before its approval");
    await step({ type: "message", text: "sounds good, I suppose" });
    tour.check((await phaseOf(tour, "plan")) === "gated", "a message opened the gate");
    await step({ type: "approval", decision: "approved", by: "Ada" });
    tour.check((await phaseOf(tour, "execute")) === "active", "the approval did not lead to the next function");
    const asked = await step({ type: "signal", signal: "need_approval", payload: { question: "Push?" }, by: "worker" });
    tour.check((await phaseOf(tour, "execute")) === "paused", "the question did not pause");
    await step({ type: "resolve", seq: asked?.seq ?? -1, by: "Ada" });
    await step({ type: "evidence", label: "tests passed" });
    tour.check((await phaseOf(tour, "execute")) === "complete", "the evidence did not complete the work");
    await tour.call("signal", { type: "progress", payload: { message: "the workflow is through", percent: 100 } });

    const { text } = await tour.call("context_assemble", {
      topic: "which port does the test database use?",
      max_tokens: 600,
    });
    const failed = /Failed: .*/.exec(text)?.[0];
    tour.check(failed === undefined, `a store could not be searched: ${failed}`);
    const served = new Set((await tour.tools()).map(({ name }) => name));
    // The memory is that of an earlier step; with `--step` this one runs alone.
    if (served.has("memory_recall") && text.includes("· mem_"))
      tour.check(text.includes("6432"), "the memory of the port was found and not shown");
    else tour.show("context_assemble", "no memory of the port here: the step that writes it did not run");
  },
});
