// Ask a model about a folder by the Responses API: OPENAI_API_KEY=… npx tsx examples/openai-responses/main.ts "What is this?"
import { runOpenAI, toOpenAI } from "@toolhaft/adapters/openai";
import { createContext } from "@toolhaft/core";
import { createHashline } from "@toolhaft/hashline";
import OpenAI from "openai";

/** Answers a question about the files in a folder; asks on the terminal's behalf before anything outside is touched. */
export async function ask(
  client: OpenAI,
  model: string,
  question: string,
  allow: (what: string) => Promise<boolean>,
  directory = process.cwd(),
): Promise<string> {
  await using hashline = createHashline();
  const options = { context: createContext({ directory }), approval: "host" } as const;
  const tools = toOpenAI(hashline, { ...options, api: "responses" });
  const input: OpenAI.Responses.ResponseInput = [{ role: "user", content: question }];
  for (let step = 0; step < 20; step++) {
    const response = await client.responses.create({ model, input, tools });
    if (!response.output.some(({ type }) => type === "function_call")) return response.output_text;
    const { items, questions } = await runOpenAI(hashline, response, options);
    input.push(...response.output, ...items);
    const answers: Record<string, boolean> = {};
    for (const { callId, name, effects } of questions)
      answers[callId] = await allow(
        `${name}: ${effects.map(({ permission, resource }) => `${permission} ${resource}`)}`,
      );
    if (questions.length > 0) input.push(...(await runOpenAI(hashline, response, { ...options, answers })).items);
  }
  throw new Error("no answer after 20 steps");
}

if (process.argv[1] === import.meta.filename) {
  const question = process.argv.slice(2).join(" ") || "What is in this folder?";
  const deny = async (what: string) => {
    console.error(`not allowed: ${what}`);
    return false;
  };
  console.log(await ask(new OpenAI(), process.env.OPENAI_MODEL ?? "gpt-5-mini", question, deny));
}
