// A command-line agent, as small as one can be: reads its assignment from stdin, reports progress on its task, answers on
// stdout. A real one is `claude`, `codex`, `opencode` or `gemini`, for which there are presets.
import { createContext } from "@toolhaft/core";
import { createDispatch } from "@toolhaft/dispatch";

let assignment = "";
for await (const chunk of process.stdin) assignment += chunk;
const words = assignment.trim().split(/\s+/);
const { TOOLHAFT_TASK: id = "", TOOLHAFT_TASK_TOKEN: token = "" } = process.env;
const reporter = createDispatch({ agents: [] });
const progress = reporter.tools.find(({ name }) => name === "dispatch_progress");
const context = createContext({ directory: process.cwd(), agent: "counter", task: { id, token } });
await progress?.call(
  { task_id: id, stage: "counting", message: `${words.length} words to count`, percentage: 50 },
  context,
);
await reporter.close();
console.log(
  `The assignment has ${words.length} words; the longest is "${words.sort((a, b) => b.length - a.length)[0]}".`,
);
