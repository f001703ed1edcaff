import { AIMessage, type BaseMessage, HumanMessage, type ToolMessage } from "@langchain/core/messages";
import { FakeStreamingChatModel } from "@langchain/core/utils/testing";
import { createAgent } from "langchain";
import { toLangChain } from "../../src/langchain.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { objectOf } from "../../test/hosts/scripted-fetch.ts";

interface BoundTool {
  name: string;
  schema: unknown;
}

/** A chat model that makes one call and then, with the answer before it, says it is done. */
export class ScriptedModel extends FakeStreamingChatModel {
  turn: Turn | undefined;
  bound: BoundTool[] = [];
  seen: BaseMessage[] = [];

  override bindTools(tools: never): never {
    this.bound = tools;
    return this as never;
  }

  override async _generate(messages: BaseMessage[]) {
    this.seen = messages;
    const { name = "", input = "{}" } = this.turn ?? {};
    const answered = messages.some((message) => message.getType() === "tool");
    const message = answered
      ? new AIMessage("done")
      : new AIMessage({
          content: "",
          tool_calls: [{ name, args: objectOf(input) as Record<string, unknown>, id: "call-1", type: "tool_call" }],
        });
    return { generations: [{ text: "", message }] };
  }
}

async function run(turn: Turn): Promise<Outcome> {
  const model = new ScriptedModel({});
  model.turn = turn;
  const agent = createAgent({ model, tools: toLangChain(turn.tools, turn.options) as never });
  await agent.invoke({ messages: [new HumanMessage("go")] }, turn.signal ? { signal: turn.signal } : {});
  const answer = model.seen.find((message): message is ToolMessage => message.getType() === "tool");
  const parts = Array.isArray(answer?.content) ? answer.content : [];
  const { data, fileChanges } = answer?.artifact ?? {};
  return {
    text:
      typeof answer?.content === "string" ? answer.content : parts.flatMap((part) => String(part.text ?? "")).join(""),
    images: parts.flatMap((part) => (typeof part.mimeType === "string" ? part.mimeType : [])),
    failed: answer?.status === "error",
    data,
    ...(fileChanges && { fileChanges }),
    asked: 0,
    sent: model.bound.map(({ name, schema }) => ({ name, schema })),
  };
}

export const hosts: readonly Host[] = [{ name: "an agent of LangChain", lost: ["cutInput"], asks: "never", run }];
