// Ask a model about a folder by Chat Completions: OPENAI_API_KEY=… npx tsx examples/openai-chat/main.ts "What is this?"
// Any server that speaks the same API will do: set OPENAI_BASE_URL and OPENAI_MODEL.
import { runOpenAI, toOpenAI } from "@toolhaft/adapters/openai";
import { createContext } from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";
import OpenAI from "openai";

/** Answers a question about the files in a folder. */
export async function ask(client: OpenAI, model: string, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  const options = { context: createContext({ directory }) };
  const messages: OpenAI.Chat.ChatCompletionMessageParam[] = [{ role: "user", content: question }];
  for (let step = 0; step < 20; step++) {
    const response = await client.chat.completions.create({ model, messages, tools: toOpenAI(hashline, options) });
    const message = response.choices[0]?.message;
    if (message?.tool_calls === undefined) return message?.content ?? "";
    messages.push(message, ...(await runOpenAI(hashline, response, options)).items);
  }
  throw new Error("no answer after 20 steps");
}

if (process.argv[1] === import.meta.filename) {
  const question = process.argv.slice(2).join(" ") || "What is in this folder?";
  console.log(await ask(new OpenAI(), process.env.OPENAI_MODEL ?? "gpt-5-mini", question));
}
