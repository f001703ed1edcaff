import type { AnyTool, Attachment, ToolFailure, ToolResult } from "@toolhaft/core";
import { toJsonSchema } from "@toolhaft/core";
import * as ai from "ai";
import { createHostApprovals } from "./approval.ts";
import { type AdapterOptions, contextMaker, namedTools, type ToolSource } from "./options.ts";

export type { AdapterOptions, HostCall, ToolSource } from "./options.ts";

export interface AiSdkOptions extends AdapterOptions {
  /** Lets the SDK check input before the call, for its own repair of calls. Core checks it either way. @default false */
  hostValidation?: boolean;
  /** Makes `execute` a generator: progress arrives as preliminary results. @default false */
  stream?: boolean;
}

/** A tool of the SDK, its types widened: eighty tools add no work for the compiler. */
export type AiSdkTools = Record<string, ai.Tool<unknown, unknown>>;

/** What `execute` throws for a failure: the model reads the message, the application has the rest. */
export class ToolCallError extends Error {
  override readonly name = "ToolCallError";
  readonly failure: ToolFailure;
  readonly result: ToolResult;

  constructor(result: Extract<ToolResult, { ok: false }>) {
    super(result.text);
    this.failure = result.error;
    this.result = result;
  }
}

/** A preliminary result of `stream: true`. */
export interface AiSdkProgress {
  preliminary: true;
  message?: string;
  progress?: number;
  total?: number;
  data?: unknown;
}

interface CallOptions {
  toolCallId: string;
  abortSignal?: AbortSignal | undefined;
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
  const contextOf = contextMaker(options);
  const approvals = createHostApprovals();

  const initOf = ({ toolCallId, abortSignal, ...host }: CallOptions) =>
    contextOf({ callId: toolCallId, context: host.experimental_context ?? host.context }, abortSignal);

  const run = async (
    tool: AnyTool,
    input: unknown,
    call: CallOptions,
    onProgress?: (update: AiSdkProgress) => void,
  ): Promise<ToolResult> => {
    const init = initOf(call);
    const asker = hostAsks ? approvals.asker(tool, call.toolCallId, input, init.asker) : init.asker;
    const { progress } = init;
    const result = await tool.call(input, {
      ...init,
      ...(asker && { asker }),
      ...(onProgress && {
        progress: (update) => {
          progress?.(update);
          onProgress({ preliminary: true, ...update });
        },
      }),
    });
    if (!result.ok) throw new ToolCallError(result);
    return result;
  };

  return Object.fromEntries(
    namedTools(source, options).map(({ name, tool }) => [
      name,
      {
        title: tool.title,
        description: tool.description,
        inputSchema: ai.jsonSchema<unknown>(
          toJsonSchema(tool, "mcp"),
          options.hostValidation ? { validate: (value) => validate(tool, value) } : {},
        ),
        ...(tool.examples.length > 0 && { inputExamples: tool.examples.map(({ input }) => ({ input })) }),
        execute: options.stream
          ? (input: unknown, call: CallOptions) => streamed((onProgress) => run(tool, input, call, onProgress))
          : (input: unknown, call: CallOptions) => run(tool, input, call),
        ...(hostAsks && {
          needsApproval: (input: unknown, call: CallOptions) =>
            approvals.needed(tool, call.toolCallId, input, initOf(call)),
        }),
        toModelOutput: modelOutput,
      },
    ]),
  );
}

/** Approval came with version 6, and with it this class. */
function hasApproval(): boolean {
  return "ToolLoopAgent" in ai;
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
  const images = output.ok ? (output.attachments ?? []).filter(isImage) : [];
  const part = (image: Attachment) => ({
    type: wrapped ? "image-data" : "media",
    data: Buffer.from(image.source.kind === "bytes" ? image.source.bytes : []).toString("base64"),
    mediaType: image.mimeType,
  });
  const made: ModelOutput =
    images.length === 0
      ? { type: "text", value: output.text }
      : { type: "content", value: [{ type: "text", text: output.text }, ...images.map(part)] };
  return made as never;
}

function isImage({ mimeType, source }: Attachment): boolean {
  return mimeType.startsWith("image/") && source.kind === "bytes";
}
