import { join } from "node:path";
import { createDispatch, processRunner } from "@toolhaft/dispatch";
import { defineStep } from "../tour.ts";

const program = join(import.meta.dirname, "../../dispatch/agent.mjs");

export default defineStep({
  title: "Two sub-agent processes in the background: progress, answers, the graph, an export",
  needs: ["task_graph", "task_export"],
  async run(tour) {
    const dispatch = createDispatch({
      agents: [
        {
          name: "counter",
          description: "Counts the words of its assignment.",
          runner: processRunner({ command: process.execPath, args: [program] }),
        },
      ],
    });
    try {
      const call = async (name: string, input: object) => {
        const tool = dispatch.tools.find((one) => one.name === name);
        const result = await tool?.call(input, { directory: tour.directory, sessionId: "tour" });
        tour.show(`${name} ${JSON.stringify(input)}`, result?.text ?? "");
        tour.check(result?.ok === true, `${name}: ${result?.text ?? "no such tool"}`);
        return result?.ok === true ? (result.data as { taskId: string }) : { taskId: "" };
      };
      const ids: string[] = [];
      for (const prompt of ["Count the words of this line", "Count these few"])
        ids.push((await call("dispatch", { subagent: "counter", prompt, run_in_background: true })).taskId);
      const [first = "", second = ""] = ids;
      await call("dispatch_output", { task_id: first, wait_ms: 60_000 });
      await call("dispatch_output", { task_id: second, wait_ms: 60_000 });
      await call("dispatch_stream", { task_id: first });
      await call("dispatch_inbox", {});
      // The server is another process on the same store.
      const graph = await tour.call("task_graph", { root_session: "tour" });
      tour.check(
        ids.every((id) => graph.text.includes(id)),
        "the graph does not show both tasks",
      );
      const exported = await tour.call("task_export", { task_id: first, export_path: "reports/count.md" });
      tour.check(exported.text.includes("count.md"), "the export does not tell its path");
    } finally {
      await dispatch.close();
    }
  },
});
