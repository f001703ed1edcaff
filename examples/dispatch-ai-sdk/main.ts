// A subagent that is the AI SDK's loop, with tools: AI_MODEL=openai/gpt-5-mini npx tsx examples/dispatch-ai-sdk/main.ts "What is here?"
import { toAiSdk } from "@toolhaft/adapters/ai-sdk";
import { createDispatch } from "@toolhaft/dispatch";
import { aiSdkRunner } from "@toolhaft/dispatch/ai-sdk";
import { createHashline } from "@toolhaft/hashline";
import type { LanguageModel } from "ai";

/** Dispatches one question to a subagent that may read files; gives what the model of a main agent would read. */
export async function ask(model: LanguageModel, question: string, directory = process.cwd()): Promise<string> {
  await using hashline = createHashline();
  await using dispatch = createDispatch({
    agents: [
      {
        name: "reader",
        description: "Reads files and answers.",
        runner: aiSdkRunner({
          model,
          system: "Answer from the files of the folder.",
          tools: ({ context }) => toAiSdk(hashline, { context }),
        }),
      },
    ],
    budget: { perRoot: { totalTokens: 1_000_000 } },
  });
  const tool = dispatch.tools.find(({ name }) => name === "dispatch");
  const result = await tool?.call({ subagent: "reader", prompt: question, run_in_background: false }, { directory });
  return result?.text ?? "";
}

if (process.argv[1] === import.meta.filename) {
  const model = process.env.AI_MODEL;
  if (model === undefined) throw new Error("set AI_MODEL to a model such as openai/gpt-5-mini");
  console.log(await ask(model, process.argv.slice(2).join(" ") || "What is in this folder?"));
}
