// Ask an agent about a folder: npm install @openai/agents, then OPENAI_API_KEY=… npx tsx examples/openai-agents/main.ts "What is this?"
import { Agent, type Model, Runner } from "@openai/agents";
import { toOpenAIAgents } from "@toolhaft/adapters/openai-agents";
import { createHashline } from "@toolhaft/hashline";

/** Answers a question about the files in a folder; what needs a permission is refused, for nobody is asked here. */
export async function ask(model: string | Model, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const agent = new Agent({
    name: "Reader",
    instructions: "Answer from the files of this folder.",
    model,
    tools: toOpenAIAgents(hashline, { context: { directory } }),
  });
  const runner = new Runner({ tracingDisabled: true });
  let result = await runner.run(agent, question);
  while (result.interruptions.length > 0) {
    for (const interruption of result.interruptions) result.state.reject(interruption);
    result = await runner.run(agent, result.state);
  }
  return String(result.finalOutput);
}

if (process.argv[1] === import.meta.filename)
  console.log(await ask(process.env.OPENAI_MODEL ?? "gpt-5-mini", process.argv.slice(2).join(" ") || "What is this?"));
