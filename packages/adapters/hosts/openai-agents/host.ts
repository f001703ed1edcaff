import { Agent, type AgentInputItem, type Model, type ModelRequest, Runner } from "@openai/agents";
import { toOpenAIAgents } from "../../src/openai-agents.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";

interface CallOutput {
  type: string;
  output?: unknown;
}

/** A model that makes one call and then, with the answer before it, says it is done. */
export class ScriptedModel implements Model {
  readonly requests: ModelRequest[] = [];
  readonly calls: readonly { callId: string; name: string; arguments: string }[];

  constructor(calls: readonly { callId: string; name: string; arguments: string }[]) {
    this.calls = calls;
  }

  async getResponse(request: ModelRequest) {
    this.requests.push(request);
    const usage = { requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 };
    const answered = itemsOf(request).some(({ type }) => type === "function_call_result");
    const output = answered
      ? [
          {
            type: "message" as const,
            role: "assistant" as const,
            status: "completed" as const,
            content: [{ type: "output_text" as const, text: "done" }],
          },
        ]
      : this.calls.map((call) => ({ type: "function_call" as const, status: "completed" as const, ...call }));
    return { usage: usage as never, output };
  }

  getStreamedResponse(): AsyncIterable<never> {
    throw new Error("nothing is streamed here");
  }
}

function itemsOf({ input }: ModelRequest): readonly CallOutput[] {
  return typeof input === "string" ? [] : (input as readonly CallOutput[]);
}

async function run(turn: Turn): Promise<Outcome> {
  const model = new ScriptedModel([{ callId: "call-1", name: turn.name, arguments: turn.input }]);
  const agent = new Agent({ name: "Tester", model, tools: toOpenAIAgents(turn.tools, turn.options) as never });
  const runner = new Runner({ tracingDisabled: true });
  const options = { maxTurns: 4, ...(turn.signal && { signal: turn.signal }) };
  let result = await runner.run(agent, [{ role: "user", content: "go" }] as AgentInputItem[], options);
  let asked = 0;
  while (result.interruptions.length > 0) {
    for (const interruption of result.interruptions) {
      asked++;
      if (turn.approve === true) result.state.approve(interruption);
      else result.state.reject(interruption);
    }
    result = await runner.run(agent, result.state, options);
  }
  const last = model.requests.at(-1);
  const answer = last && itemsOf(last).find(({ type }) => type === "function_call_result");
  const { text, images } = shown(answer?.output);
  const item = result.newItems.find(({ type }) => type === "tool_call_output_item") as
    | { customData?: { data?: unknown; fileChanges?: readonly unknown[] } }
    | undefined;
  return {
    text,
    images,
    failed: false,
    data: item?.customData?.data,
    ...(item?.customData?.fileChanges && { fileChanges: item.customData.fileChanges }),
    asked,
    sent: (model.requests[0]?.tools ?? []).flatMap((tool) =>
      tool.type === "function" ? [{ name: tool.name, schema: tool.parameters }] : [],
    ),
  };
}

/** Outputs are a text, a part, or a list of parts. */
function shown(output: unknown): { text: string; images: string[] } {
  if (typeof output === "string") return { text: output, images: [] };
  const parts = (Array.isArray(output) ? output : [output]) as { type?: string; text?: string; image?: unknown }[];
  return {
    text: parts.flatMap((part) => part?.text ?? []).join(""),
    images: parts.flatMap((part) =>
      part?.image === undefined ? [] : (/image\/[a-z]+/.exec(JSON.stringify(part)) ?? []),
    ),
  };
}

export const hosts: readonly Host[] = [
  // Arguments that are no JSON are put to a person, who can only refuse them.
  { name: "the OpenAI Agents SDK", lost: ["errorFlag", "cutInput"], asks: "before", run },
];
