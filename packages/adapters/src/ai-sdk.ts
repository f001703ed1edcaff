import { type AnyTool, type ToolResult, toJsonSchema } from "@toolhaft/core";
import * as ai from "ai";
import { type HostTool, hostTools } from "./host-tools.ts";
import { imagesOf } from "./images.ts";
import type { AdapterOptions, ToolSource } from "./options.ts";
import { orThrow } from "./tool-call-error.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";
export { ToolCallError } from "./tool-call-error.ts";

export interface AiSdkOptions extends AdapterOptions {
  /** Lets the SDK check input before the call, for its own repair of calls. Core checks it either way. @default false */
  hostValidation?: boolean;
  /** Makes `execute` a generator: progress arrives as preliminary results. @default false */
  stream?: boolean;
}

/** A tool of the SDK, its types widened: eighty tools add no work for the compiler. */
export type AiSdkTools = Record<string, ai.Tool<unknown, unknown>>;

/** A preliminary result of `stream: true`. */
export interface AiSdkProgress {
  preliminary: true;
  message?: string;
  progress?: number;
  total?: number;
  data?: unknown;
}

/** What version 7 takes as `toolApproval` for each tool. */
export type AiSdkApproval = Record<
  string,
  (input: unknown, call: { toolCallId: string; runtimeContext?: unknown }) => "user-approval" | "not-applicable"
>;

interface CallOptions {
  toolCallId: string;
  abortSignal?: AbortSignal | undefined;
  messages?: readonly unknown[] | undefined;
  experimental_context?: unknown;
  context?: unknown;
}

/**
 * Tools for `generateText`, `streamText` and agents of the AI SDK (5, 6, 7). The model reads each result's text, the
 * application gets the whole result.
 *
 * @example
 * const result = await generateText({ model, prompt, tools: toAiSdk(createHashline()) });
 */
export function toAiSdk(source: ToolSource, options: AiSdkOptions = {}): AiSdkTools {
  const hostAsks = options.approval === undefined ? hasApproval() : options.approval === "host";
  if (hostAsks && !hasApproval())
    throw new TypeError('this version of "ai" has no approval of its own: take approval "policy", or "ai" 6 or newer');

  return Object.fromEntries(
    hostTools(source, options, hostAsks).map((hosted) => [hosted.name, toolOf(hosted, options, hostAsks)]),
  );
}

/**
 * What `toAiSdk` asks through `needsApproval`, as the `toolApproval` setting of version 7 takes it, for programs that
 * keep all their approvals in that one place. The yes reaches the tools by the messages, as it does without it.
 */
export function toolApproval(source: ToolSource, options: AdapterOptions = {}): AiSdkApproval {
  return Object.fromEntries(
    hostTools(source, options, true).map(({ name, needsApproval }) => [
      name,
      (input, { toolCallId, runtimeContext }) =>
        needsApproval(input, { callId: toolCallId, context: runtimeContext }) ? "user-approval" : "not-applicable",
    ]),
  );
}

function toolOf({ tool, call, needsApproval }: HostTool, options: AiSdkOptions, hostAsks: boolean) {
  const hostCall = (given: CallOptions) => ({
    callId: given.toolCallId,
    context: given.experimental_context ?? given.context,
  });
  const run = async (input: unknown, given: CallOptions, onProgress?: (update: AiSdkProgress) => void) =>
    orThrow(
      await call(input, {
        ...hostCall(given),
        signal: given.abortSignal,
        approved: wasApproved(given),
        ...(onProgress && { onProgress: (update) => onProgress({ preliminary: true, ...update }) }),
      }),
    );
  return {
    title: tool.title,
    description: tool.description,
    inputSchema: ai.jsonSchema<unknown>(
      toJsonSchema(tool, "mcp"),
      options.hostValidation ? { validate: (value) => validate(tool, value) } : {},
    ),
    ...(tool.examples.length > 0 && { inputExamples: tool.examples.map(({ input }) => ({ input })) }),
    execute: options.stream
      ? (input: unknown, given: CallOptions) => streamed((onProgress) => run(input, given, onProgress))
      : (input: unknown, given: CallOptions) => run(input, given),
    ...(hostAsks && { needsApproval: (input: unknown, given: CallOptions) => needsApproval(input, hostCall(given)) }),
    toModelOutput: modelOutput,
  };
}

/** Approval came with version 6, and with it this class. */
function hasApproval(): boolean {
  return "ToolLoopAgent" in ai;
}

/**
 * Whether the messages of the conversation hold a person's yes for this call: the request may have been answered in
 * another process than the one that asked.
 */
function wasApproved({ toolCallId, messages = [] }: CallOptions): boolean {
  const parts = messages.flatMap((message) => listOf(fieldsOf(message).content)).map(fieldsOf);
  const asked = parts
    .filter(({ type, toolCallId: id }) => type === "tool-approval-request" && id === toolCallId)
    .map(({ approvalId }) => approvalId);
  const answers = parts.filter(
    ({ type, approvalId }) => type === "tool-approval-response" && asked.includes(approvalId),
  );
  return answers.length > 0 && answers.every(({ approved }) => approved === true);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function validate(tool: AnyTool, value: unknown): { success: true; value: unknown } | { success: false; error: Error } {
  const parsed = tool.parse(value);
  // The raw value goes on: core repairs and fills it again, and approval is bound to what the model sent.
  return parsed.ok ? { success: true, value } : { success: false, error: new Error(parsed.error.message) };
}

/** Yields progress as it comes, then the result. */
async function* streamed(
  run: (onProgress: (update: AiSdkProgress) => void) => Promise<ToolResult>,
): AsyncGenerator<AiSdkProgress | ToolResult> {
  const updates: AiSdkProgress[] = [];
  let wake: () => void = () => undefined;
  let settled = false;
  const result = run((update) => {
    updates.push(update);
    wake();
  }).finally(() => {
    settled = true;
    wake();
  });
  // Its rejection is thrown by the last line; until then it is no unhandled one.
  result.catch(() => undefined);
  while (!settled) {
    const next = updates.shift();
    if (next !== undefined) yield next;
    else {
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (settled || updates.length > 0) resolve();
      });
    }
  }
  yield await result;
}

type ModelOutput = { type: "text"; value: string } | { type: "content"; value: unknown[] };

/** Version 5 gives the output itself, 6 and later give it beside call id and input. */
function modelOutput(given: unknown): never {
  const wrapped = typeof given === "object" && given !== null && !("ok" in given) && "output" in given;
  const output = (wrapped ? given.output : given) as ToolResult;
  const images = imagesOf(output).map(({ mimeType, base64 }) => ({
    type: wrapped ? "image-data" : "media",
    data: base64,
    mediaType: mimeType,
  }));
  const made: ModelOutput =
    images.length === 0
      ? { type: "text", value: output.text }
      : { type: "content", value: [{ type: "text", text: output.text }, ...images] };
  return made as never;
}
