// Ask an agent about a folder: npm install @mastra/core zod, then OPENAI_API_KEY=… npx tsx examples/mastra/main.ts "What is this?"
import { Agent, type AgentConfig } from "@mastra/core/agent";
import { toMastra } from "@toolhaft/adapters/mastra";
import { createHashline } from "@toolhaft/hashline";

/** Answers a question about the files in a folder; without an asker, what needs a permission is refused. */
export async function ask(model: AgentConfig["model"], question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const agent = new Agent({
    id: "reader",
    name: "Reader",
    instructions: "Answer from the files of this folder.",
    model,
    tools: toMastra(hashline, { context: { directory }, approval: "policy" }) as NonNullable<AgentConfig["tools"]>,
  });
  const { text } = await agent.generate(question, { maxSteps: 20 });
  return text;
}

if (process.argv[1] === import.meta.filename) {
  const model = process.env.MASTRA_MODEL ?? "openai/gpt-5-mini";
  console.log(await ask(model, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
