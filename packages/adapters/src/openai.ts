import { type AnyTool, fromProfile, type JsonSchema, type ToolResult, toJsonSchema } from "@toolhaft/core";
import { imagesOf } from "./images.ts";
import { type AdapterOptions, namedTools, type ToolSource } from "./options.ts";
import { type AnsweredCall, type ModelCall, type OpenQuestion, type RunOptions, runCalls } from "./run-calls.ts";
import { chosen, inProfile, type ReportRow, type Strict } from "./strict.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export type { AnsweredCall, OpenQuestion, RunOptions } from "./run-calls.ts";

export interface OpenAIOptions extends AdapterOptions {
  /**
   * Which tools the provider must follow to the letter: all that can be said so, or those named. `false` is always
   * written out, for the Responses API takes its absence as `true`.
   *
   * @default false
   */
  strict?: Strict;
  /** Tools that were to be strict and cannot be; they stay `strict: false`. */
  onReport?(rows: readonly ReportRow[]): void;
}

export interface OpenAIChatTool {
  type: "function";
  function: { name: string; description: string; parameters: Record<string, unknown>; strict: boolean };
}

export interface OpenAIResponsesTool {
  type: "function";
  name: string;
  description: string;
  parameters: Record<string, unknown>;
  strict: boolean;
}

/** Most tools in one request. */
const maxTools = 128;

/**
 * Definitions for `tools` of a request to OpenAI, or to one of the many servers that speak its Chat Completions.
 *
 * @throws TypeError over 128 tools, and when `strict` names a tool that is not there.
 * @example
 * const response = await openai.responses.create({ model, input, tools: toOpenAI(tools, { api: "responses" }) });
 */
export function toOpenAI(source: ToolSource, options?: OpenAIOptions & { api?: "chat" }): OpenAIChatTool[];
export function toOpenAI(source: ToolSource, options: OpenAIOptions & { api: "responses" }): OpenAIResponsesTool[];
export function toOpenAI(
  source: ToolSource,
  options: OpenAIOptions & { api?: "chat" | "responses" } = {},
): OpenAIChatTool[] | OpenAIResponsesTool[] {
  const tools = namedTools(source, options);
  if (tools.length > maxTools) {
    throw new TypeError(
      `toOpenAI: ${tools.length} tools, and one request takes at most ${maxTools}; pick some, or let the model find them by need with createMeta of @toolhaft/meta`,
    );
  }
  const isStrict = chosen("toOpenAI: strict", options.strict, tools);
  const report: ReportRow[] = [];
  const definitions = tools.map(({ name, tool }) => {
    const { schema, strict } = parametersOf(tool, isStrict(name), report);
    return { name, description: tool.description, parameters: { ...schema }, strict };
  });
  options.onReport?.(report);
  return options.api === "responses"
    ? definitions.map((definition) => ({ type: "function" as const, ...definition }))
    : definitions.map((definition) => ({ type: "function" as const, function: definition }));
}

function parametersOf(tool: AnyTool, strict: boolean, report: ReportRow[]): { schema: JsonSchema; strict: boolean } {
  if (strict) {
    const made = inProfile(tool, "openai-strict");
    if ("schema" in made) return { schema: made.schema, strict };
    report.push(made);
  }
  return { schema: toJsonSchema(tool, "openai"), strict: false };
}

/** What `runOpenAI` reads of a response of `chat.completions.create`. */
export interface OpenAIChatResponse {
  choices: readonly { message: { tool_calls?: readonly OpenAIChatCall[] | null | undefined } }[];
}

interface OpenAIChatCall {
  id: string;
  type: string;
  function?: { name: string; arguments: string };
}

/** What `runOpenAI` reads of a response of `responses.create`. */
export interface OpenAIResponse {
  output: readonly { type: string; call_id?: string | null; name?: string | null; arguments?: unknown }[];
}

export interface OpenAIToolMessage {
  role: "tool";
  tool_call_id: string;
  content: string;
}

export interface OpenAICallOutput {
  type: "function_call_output";
  call_id: string;
  output:
    | string
    | ({ type: "input_text"; text: string } | { type: "input_image"; image_url: string; detail: "auto" })[];
}

export interface OpenAIRun<Item> {
  /** The answers, in the order of the calls: append them after the model's own message or output. */
  items: Item[];
  results: AnsweredCall[];
  /** With `approval: "host"`: calls that wait for a person. Ask, and run again with `answers`. */
  questions: OpenQuestion[];
}

/**
 * Runs the calls of a response and gives what to append to the conversation. Responses without calls give no items.
 *
 * @example
 * messages.push(response.choices[0].message, ...(await runOpenAI(tools, response)).items);
 */
export async function runOpenAI(
  source: ToolSource,
  response: OpenAIChatResponse,
  options?: RunOptions,
): Promise<OpenAIRun<OpenAIToolMessage>>;
export async function runOpenAI(
  source: ToolSource,
  response: OpenAIResponse,
  options?: RunOptions,
): Promise<OpenAIRun<OpenAICallOutput>>;
export async function runOpenAI(
  source: ToolSource,
  response: OpenAIChatResponse | OpenAIResponse,
  options: RunOptions = {},
): Promise<OpenAIRun<OpenAIToolMessage | OpenAICallOutput>> {
  const inputOf = argumentReader(source, options);
  if ("output" in response) {
    const calls = response.output.flatMap(({ type, call_id: callId, name, arguments: given }) =>
      type === "function_call" && typeof callId === "string" && typeof name === "string"
        ? [{ callId, name, input: inputOf(name, given) }]
        : [],
    );
    return ran(await runCalls(source, calls, options), ({ callId, result }) => ({
      type: "function_call_output",
      call_id: callId,
      output: outputOf(result),
    }));
  }
  const calls = (response.choices[0]?.message.tool_calls ?? []).flatMap(({ id, function: called }): ModelCall[] =>
    called === undefined ? [] : [{ callId: id, name: called.name, input: inputOf(called.name, called.arguments) }],
  );
  return ran(await runCalls(source, calls, options), ({ callId, result }) => ({
    role: "tool",
    tool_call_id: callId,
    content: result.text,
  }));
}

function ran<Item>(
  { answered, questions }: Awaited<ReturnType<typeof runCalls>>,
  itemOf: (answered: AnsweredCall) => Item,
): OpenAIRun<Item> {
  return { items: answered.map(itemOf), results: answered, questions };
}

/** Arguments come as JSON text. What strict mode sends as null for "left out" is taken out; what is cut off core refuses. */
function argumentReader(source: ToolSource, options: AdapterOptions): (name: string, given: unknown) => unknown {
  const tools = new Map(namedTools(source, options).map(({ name, tool }) => [name, tool]));
  return (name, given) => {
    const tool = tools.get(name);
    if (tool === undefined || typeof given !== "string") return given;
    const text = given.trim() === "" ? "{}" : given;
    try {
      return fromProfile(tool, "openai-strict", JSON.parse(text));
    } catch (error) {
      if (error instanceof SyntaxError) return text;
      throw error;
    }
  };
}

function outputOf(result: ToolResult): OpenAICallOutput["output"] {
  const images = imagesOf(result);
  if (images.length === 0) return result.text;
  return [
    { type: "input_text", text: result.text },
    ...images.map(({ mimeType, base64 }) => ({
      type: "input_image" as const,
      image_url: `data:${mimeType};base64,${base64}`,
      detail: "auto" as const,
    })),
  ];
}
