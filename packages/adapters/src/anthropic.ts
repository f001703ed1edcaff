import { type AnyTool, profileReport, type ToolResult, toJsonSchema } from "@toolhaft/core";
import { hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import { type AdapterOptions, type NamedTool, namedTools, type ToolSource } from "./options.ts";
import { type AnsweredCall, type ModelCall, type OpenQuestion, type RunOptions, runCalls } from "./run-calls.ts";
import { chosen, inProfile, type ReportRow, type Strict } from "./strict.ts";
import { orThrow } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export type { AnsweredCall, OpenQuestion, RunOptions } from "./run-calls.ts";
export { ToolCallError } from "./tool-call-error.ts";

export interface AnthropicOptions extends AdapterOptions {
  /** Which tools the provider must follow to the letter; at most 20, with 24 optional parameters between them. @default false */
  strict?: Strict;
  /** Which tools are sent, but loaded by the model's tool search only. @default none */
  defer?: Strict;
  /** Marks the last tool that is not deferred, so that all of them are cached. @default false */
  cache?: boolean;
  /** Tools that were to be strict and cannot be; they are sent without. */
  onReport?(rows: readonly ReportRow[]): void;
}

export interface AnthropicTool {
  type: "custom";
  name: string;
  description: string;
  input_schema: { type: "object"; [keyword: string]: unknown };
  strict?: true;
  defer_loading?: true;
  cache_control?: { type: "ephemeral" };
}

/**
 * Definitions for `tools` of the Messages API.
 *
 * @throws TypeError when the strict tools are too many for one grammar, or an option names a tool that is not there.
 */
export function toAnthropic(source: ToolSource, options: AnthropicOptions = {}): AnthropicTool[] {
  const tools = namedTools(source, options);
  const isStrict = chosen("toAnthropic: strict", options.strict, tools);
  const isDeferred = chosen("toAnthropic: defer", options.defer, tools);
  refuseTooMany(tools.filter(({ name }) => isStrict(name)));
  const report: ReportRow[] = [];
  const definitions = tools.map(({ name, tool }): AnthropicTool => {
    const { schema, strict } = schemaOf(tool, isStrict(name), report);
    return {
      type: "custom",
      name,
      description: tool.description,
      input_schema: { ...schema, type: "object" },
      ...(strict && { strict: true }),
      ...(isDeferred(name) && { defer_loading: true }),
    };
  });
  options.onReport?.(report);
  const last = definitions.findLast((definition) => definition.defer_loading === undefined);
  if (options.cache && last !== undefined) last.cache_control = { type: "ephemeral" };
  return definitions;
}

function schemaOf(tool: AnyTool, strict: boolean, report: ReportRow[]) {
  if (strict) {
    const made = inProfile(tool, "anthropic-strict");
    if ("schema" in made) return { schema: made.schema, strict };
    report.push(made);
  }
  return { schema: toJsonSchema(tool, "anthropic"), strict: false };
}

/** All strict tools of a request share one grammar; the provider refuses the whole request when it grows too large. */
function refuseTooMany(strict: readonly NamedTool[]): void {
  const rows = profileReport(
    strict.map(({ tool }) => tool),
    "anthropic-strict",
  );
  const tooMany = rows.find(({ tool }) => tool === "(all)");
  if (tooMany !== undefined) throw new TypeError(`toAnthropic: ${tooMany.problem}; name fewer tools in strict`);
}

/** What `runAnthropic` reads of a message of the model. */
export interface AnthropicMessage {
  content: readonly { type: string; id?: string; name?: string; input?: unknown }[];
}

type AnthropicContent =
  | { type: "text"; text: string }
  | { type: "image"; source: { type: "base64"; media_type: AnthropicMediaType; data: string } };

/** The kinds of picture the API takes; others stay with the application. */
export type AnthropicMediaType = "image/jpeg" | "image/png" | "image/gif" | "image/webp";

export interface AnthropicToolResult {
  type: "tool_result";
  tool_use_id: string;
  content: string | AnthropicContent[];
  is_error?: true;
}

export interface AnthropicRun {
  /** The answers, in the order of the calls. */
  content: AnthropicToolResult[];
  /** The same as the message to append after the model's own; there is none when nothing was called. */
  messages: { role: "user"; content: AnthropicToolResult[] }[];
  results: AnsweredCall[];
  /** With `approval: "host"`: calls that wait for a person. Ask, run again with `answers`, and send both contents in one message. */
  questions: OpenQuestion[];
}

/**
 * Runs the calls of a message and gives what to append to the conversation.
 *
 * @example
 * messages.push({ role: "assistant", content: message.content }, ...(await runAnthropic(tools, message)).messages);
 */
export async function runAnthropic(
  source: ToolSource,
  message: AnthropicMessage,
  options: RunOptions = {},
): Promise<AnthropicRun> {
  const calls = message.content.flatMap(({ type, id, name, input }): ModelCall[] =>
    type === "tool_use" && id !== undefined && name !== undefined ? [{ callId: id, name, input: input ?? {} }] : [],
  );
  const { answered, questions } = await runCalls(source, calls, options);
  const content = answered.map(
    ({ callId, result }): AnthropicToolResult => ({
      type: "tool_result",
      tool_use_id: callId,
      content: contentOf(result),
      ...(!result.ok && { is_error: true }),
    }),
  );
  return { content, messages: content.length === 0 ? [] : [{ role: "user", content }], results: answered, questions };
}

/** A tool for `client.beta.messages.toolRunner`. */
export interface AnthropicRunnableTool extends AnthropicTool {
  run(
    input: unknown,
    context?: { toolUse?: { id: string }; signal?: AbortSignal | null | undefined },
  ): Promise<string | AnthropicContent[]>;
  parse(content: unknown): unknown;
}

/**
 * Tools for the SDK's own loop, `client.beta.messages.toolRunner({ tools: toAnthropicRunner(tools), … })`. A failure is
 * thrown; the SDK puts `Error: ` before its text and marks it `is_error`.
 */
export function toAnthropicRunner(source: ToolSource, options: AnthropicOptions = {}): AnthropicRunnableTool[] {
  const calls = new Map(hostTools(source, options, false).map(({ name, call }) => [name, call]));
  let unnamed = 0;
  return toAnthropic(source, options).map((definition) => ({
    ...definition,
    parse: (content: unknown) => content,
    async run(input, context) {
      const callId = context?.toolUse?.id ?? `${definition.name}#${unnamed++}`;
      const call = calls.get(definition.name);
      if (call === undefined) throw new TypeError(`toAnthropicRunner: there is no tool ${definition.name}`);
      return contentOf(orThrow(await call(input, { callId, signal: context?.signal ?? undefined })));
    },
  }));
}

function contentOf(result: ToolResult): string | AnthropicContent[] {
  const images = imagesOf(result).flatMap(({ mimeType, base64 }): AnthropicContent[] =>
    isMediaType(mimeType) ? [{ type: "image", source: { type: "base64", media_type: mimeType, data: base64 } }] : [],
  );
  return images.length === 0 ? result.text : [{ type: "text", text: result.text }, ...images];
}

function isMediaType(type: string): type is AnthropicMediaType {
  return type === "image/jpeg" || type === "image/png" || type === "image/gif" || type === "image/webp";
}
