// Ask an agent about a folder: npm install llamaindex @llamaindex/openai, then OPENAI_API_KEY=… npx tsx examples/llamaindex/main.ts "What is this?"
import { toLlamaIndex } from "@toolhaft/adapters/llamaindex";
import { createHashline } from "@toolhaft/hashline";
import { LLMAgent, type ToolCallLLM } from "llamaindex";

/** Answers a question about the files in a folder. */
export async function ask(llm: ToolCallLLM, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const agent = new LLMAgent({ llm, tools: toLlamaIndex(hashline, { context: { directory } }) });
  const { message } = await agent.chat({ message: question });
  return String(message.content);
}

if (process.argv[1] === import.meta.filename) {
  const provider = "@llamaindex/openai";
  const { openai } = await import(provider);
  const llm = openai({ model: process.env.OPENAI_MODEL ?? "gpt-5-mini" });
  console.log(await ask(llm, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
