// Ask a model about a folder: npm install genkit @genkit-ai/google-genai, then GEMINI_API_KEY=… npx tsx examples/genkit/main.ts "What is this?"
import { toGenkit } from "@toolhaft/adapters/genkit";
import { createHashline } from "@toolhaft/hashline";
import { type Genkit, genkit, type ModelArgument } from "genkit";

/** Answers a question about the files in a folder. */
export async function ask(
  ai: Genkit,
  model: ModelArgument,
  question: string,
  directory = process.cwd(),
): Promise<string> {
  await using hashline = createHashline();
  const tools = toGenkit(ai, hashline, { context: { directory } });
  const { text } = await ai.generate({ model, prompt: question, tools, maxTurns: 20 });
  return text;
}

if (process.argv[1] === import.meta.filename) {
  const plugin = "@genkit-ai/google-genai";
  const { googleAI } = await import(plugin);
  const ai = genkit({ plugins: [googleAI()] });
  console.log(await ask(ai, "googleai/gemini-2.5-flash", process.argv.slice(2).join(" ") || "What is in this folder?"));
}
