// Ask a model about a folder by the Messages API: ANTHROPIC_API_KEY=… npx tsx examples/anthropic/main.ts "What is this?"
import Anthropic from "@anthropic-ai/sdk";
import { toAnthropicRunner } from "@toolhaft/adapters/anthropic";
import { createHashline } from "@toolhaft/hashline";

/** Answers a question about the files in a folder; the SDK runs the loop. */
export async function ask(
  client: Anthropic,
  model: string,
  question: string,
  directory = process.cwd(),
): Promise<string> {
  await using hashline = createHashline();
  const message = await client.beta.messages.toolRunner({
    model,
    max_tokens: 4_000,
    max_iterations: 20,
    messages: [{ role: "user", content: question }],
    tools: toAnthropicRunner(hashline, { context: { directory }, cache: true }),
  });
  return message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

if (process.argv[1] === import.meta.filename) {
  const question = process.argv.slice(2).join(" ") || "What is in this folder?";
  console.log(await ask(new Anthropic(), process.env.ANTHROPIC_MODEL ?? "claude-sonnet-5", question));
}
