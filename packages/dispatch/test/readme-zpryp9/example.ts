import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDispatch, functionRunner } from "@toolhaft/dispatch";

const directory = await mkdtemp(join(tmpdir(), "dispatch-"));
await using dispatch = createDispatch({
  agents: [
    {
      name: "reviewer",
      description: "Reviews code.",
      runner: functionRunner(({ prompt }) => `Reviewed: ${prompt}`),
    },
  ],
});
const call = async (name: string, input: object) => {
  const result = await dispatch.tools.find((tool) => tool.name === name)?.call(input, { directory });
  return result?.text ?? "";
};
const answer = await call("dispatch", { subagent: "reviewer", prompt: "the parser", run_in_background: false });
console.log(answer.split("\n")[0]);
console.log(await call("agent_list", {}));
await rm(directory, { recursive: true });
