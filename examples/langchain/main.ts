// Ask an agent about a folder: npm install langchain @langchain/core, then npx tsx examples/langchain/main.ts "What is this?"
// LANGCHAIN_MODEL names the model, such as openai:gpt-5-mini; its own package and key are needed, too.
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { toLangChain } from "@toolhaft/adapters/langchain";
import { createHashline } from "@toolhaft/hashline";
import { createAgent } from "langchain";

/** Answers a question about the files in a folder. */
export async function ask(model: string | BaseChatModel, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const agent = createAgent({ model, tools: toLangChain(hashline, { context: { directory } }) });
  const { messages } = await agent.invoke({ messages: [{ role: "user", content: question }] });
  return String(messages.at(-1)?.content);
}

if (process.argv[1] === import.meta.filename) {
  const model = process.env.LANGCHAIN_MODEL ?? "openai:gpt-5-mini";
  console.log(await ask(model, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
