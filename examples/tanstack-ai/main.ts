// Ask a model about a folder: npm install @tanstack/ai @tanstack/ai-openai, then OPENAI_API_KEY=… npx tsx examples/tanstack-ai/main.ts "What is this?"
import { type AnyTextAdapter, chat } from "@tanstack/ai";
import { toTanStack } from "@toolhaft/adapters/tanstack-ai";
import { createHashline } from "@toolhaft/hashline";

/** Answers a question about the files in a folder. */
export async function ask(adapter: AnyTextAdapter, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const stream = chat({
    adapter,
    messages: [{ role: "user", content: question }],
    tools: toTanStack(hashline, { context: { directory } }),
  });
  let answer = "";
  for await (const chunk of stream) if (chunk.type === "TEXT_MESSAGE_CONTENT") answer += chunk.delta;
  return answer;
}

if (process.argv[1] === import.meta.filename) {
  const provider = "@tanstack/ai-openai";
  const { openaiText } = await import(provider);
  const adapter = openaiText(process.env.OPENAI_MODEL ?? "gpt-5-mini");
  console.log(await ask(adapter, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
