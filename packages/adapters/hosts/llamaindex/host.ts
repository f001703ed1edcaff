import { type ChatMessage, LLMAgent, ToolCallLLM } from "llamaindex";
import { toLlamaIndex } from "../../src/llamaindex.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { objectOf } from "../../test/hosts/scripted-fetch.ts";

/** A model that makes one call and then, with the answer before it, says it is done. */
export class ScriptedModel extends ToolCallLLM {
  supportToolCall = true;
  turn: Turn | undefined;
  sent: { metadata: { name: string; parameters?: unknown } }[] = [];
  answer: { result: unknown; isError: boolean } | undefined;

  get metadata() {
    return {
      model: "m",
      temperature: 0,
      topP: 1,
      contextWindow: 100_000,
      tokenizer: undefined,
      structuredOutput: false,
    };
  }

  async chat({ messages, tools = [] }: { messages: ChatMessage[]; tools?: never[] }): Promise<never> {
    this.sent = tools;
    const results = messages.flatMap(({ options }) =>
      options !== undefined && "toolResult" in options ? [options.toolResult] : [],
    );
    this.answer = results[0] as ScriptedModel["answer"];
    const { name = "", input = "{}" } = this.turn ?? {};
    const message =
      this.answer === undefined
        ? { role: "assistant", content: "", options: { toolCall: [{ id: "call-1", name, input: objectOf(input) }] } }
        : { role: "assistant", content: "done" };
    return { message, raw: null } as never;
  }
}

async function run(turn: Turn): Promise<Outcome> {
  turn.signal?.throwIfAborted();
  const llm = new ScriptedModel();
  llm.turn = turn;
  const agent = new LLMAgent({ llm: llm as never, tools: toLlamaIndex(turn.tools, turn.options) as never });
  await agent.chat({ message: "go" });
  return {
    text: String(llm.answer?.result),
    failed: llm.answer?.isError === true,
    asked: 0,
    sent: llm.sent.map(({ metadata }) => ({ name: metadata.name, schema: metadata.parameters })),
  };
}

export const hosts: readonly Host[] = [
  {
    name: "an agent of LlamaIndex",
    lost: ["data", "fileChanges", "images", "abort", "errorFlag", "cutInput"],
    asks: "never",
    run,
  },
];
