import { type GenerateRequest, genkit, type MessageData, type ToolRequestPart } from "genkit";
import { type GenkitBeta, genkit as genkitBeta } from "genkit/beta";
import { toGenkit } from "../../src/genkit.ts";
import type { Host, Outcome, Turn } from "../../test/conformance.ts";
import { objectOf } from "../../test/hosts/scripted-fetch.ts";

/** A model that makes one call and then, with the answer before it, says it is done. */
export function scriptedModel(ai: Pick<GenkitBeta, "defineModel">, turn: Pick<Turn, "name" | "input">) {
  const requests: GenerateRequest[] = [];
  const model = ai.defineModel({ name: "scripted", supports: { tools: true, multiturn: true } }, async (request) => {
    requests.push(request);
    const answered = request.messages.some(({ role }) => role === "tool");
    const content: MessageData["content"] = answered
      ? [{ text: "done" }]
      : [{ toolRequest: { name: turn.name, ref: "call-1", input: objectOf(turn.input) } }];
    return { message: { role: "model", content }, finishReason: "stop" };
  });
  return { model, requests };
}

async function run(turn: Turn, ai: GenkitBeta): Promise<Outcome> {
  const { model, requests } = scriptedModel(ai, turn);
  const tools = toGenkit(ai as never, turn.tools, turn.options) as never[];
  const settings = { model, tools, ...(turn.signal && { abortSignal: turn.signal }) };
  let response = await ai.generate({ ...settings, prompt: "go" });
  let asked = 0;
  if (response.interrupts.length > 0) {
    const interrupts: ToolRequestPart[] = response.interrupts;
    asked += interrupts.length;
    const tool = tools.find(
      ({ __action: { name } }: { __action: { name: string } }) => name === turn.name,
    ) as unknown as {
      restart(part: ToolRequestPart): ToolRequestPart;
      respond(part: ToolRequestPart, output: unknown): never;
    };
    const resume =
      turn.approve === true
        ? { restart: interrupts.map((part) => tool.restart(part)) }
        : { respond: interrupts.map((part) => tool.respond(part, "denied by the user")) };
    response = await ai.generate({ ...settings, messages: response.messages, resume });
  }
  const parts = requests.at(-1)?.messages.flatMap(({ content }) => content) ?? [];
  const answer = parts.find(({ toolResponse }) => toolResponse !== undefined)?.toolResponse;
  return {
    text: String(answer?.output),
    failed: false,
    asked,
    sent: (requests[0]?.tools ?? []).map(({ name, inputSchema }) => ({ name, schema: inputSchema })),
  };
}

// The host hands its signal to the model alone.
const lost = ["data", "fileChanges", "images", "abort", "errorFlag", "cutInput"] as const;

export const hosts: readonly Host[] = [
  { name: "Genkit", lost, asks: "never", run: (turn) => run(turn, genkit({}) as never) },
  { name: "Genkit with interrupts", lost, asks: "before", run: (turn) => run(turn, genkitBeta({})) },
];
