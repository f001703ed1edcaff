// Ask a model about a folder with the AI SDK: AI_MODEL=openai/gpt-5-mini AI_GATEWAY_API_KEY=… npx tsx examples/ai-sdk/main.ts "What is this?"
import { toAiSdk } from "@toolhaft/adapters/ai-sdk";
import { createHashline } from "@toolhaft/hashline";
import { generateText, type LanguageModel, stepCountIs } from "ai";

/** Answers a question about the files in a folder. */
export async function ask(model: LanguageModel, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const { text } = await generateText({
    model,
    tools: toAiSdk(hashline, { context: { directory } }),
    stopWhen: stepCountIs(20),
    prompt: question,
  });
  return text;
}

if (process.argv[1] === import.meta.filename) {
  const model = process.env.AI_MODEL;
  if (model === undefined) throw new Error("set AI_MODEL to a model such as openai/gpt-5-mini");
  console.log(await ask(model, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
