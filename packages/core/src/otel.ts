import { type Attributes, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { repairsOf } from "./create-context.ts";
import { wasCut } from "./middleware/result-cap.ts";
import type { Middleware, ToolCall } from "./middleware/types.ts";
import { fits, maxTextBytes } from "./text-cap.ts";
import type { ToolResult } from "./tool.ts";

export interface TracingOptions {
  /** @default that of the registered provider, named `@toolhaft/core` */
  tracer?: Tracer;
  /** Records `gen_ai.tool.call.arguments`. @default false */
  recordInput?: boolean;
  /** Records `gen_ai.tool.call.result`. @default false */
  recordOutput?: boolean;
}

/** Recorded arguments and results are cut at this many UTF-8 bytes. */
const maxRecordedBytes = 8_192;

/**
 * One span `execute_tool {name}` around each call, by OpenTelemetry's conventions for generative AI. It is the active
 * span while the tool runs, so spans of its HTTP requests nest in it. No arguments and no results unless asked for.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 */
export function tracing(options: TracingOptions = {}): Middleware {
  const { recordInput = false, recordOutput = false } = options;
  return (call, next) => {
    const tracer = options.tracer ?? trace.getTracer("@toolhaft/core");
    const attributes = attributesOf(call);
    if (recordInput) attributes["gen_ai.tool.call.arguments"] = recorded(call.raw);
    return tracer.startActiveSpan(
      `execute_tool ${call.tool.name}`,
      { kind: SpanKind.INTERNAL, attributes },
      async (span) => {
        try {
          const result = await next(call);
          span.setAttributes(outcomeOf(call, result));
          if (recordOutput && result.ok) span.setAttribute("gen_ai.tool.call.result", recorded(result.data));
          if (!result.ok) span.setStatus({ code: SpanStatusCode.ERROR });
          return result;
        } catch (error) {
          span.setAttribute("error.type", "internal");
          span.setStatus({ code: SpanStatusCode.ERROR });
          throw error;
        } finally {
          span.end();
        }
      },
    );
  };
}

function attributesOf({ tool, context }: ToolCall): Attributes {
  return {
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool.name,
    "gen_ai.tool.type": "function",
    "gen_ai.tool.description": tool.description,
    "gen_ai.tool.call.id": context.callId,
    "gen_ai.conversation.id": context.sessionId,
    "gen_ai.agent.name": context.agent,
  };
}

function outcomeOf({ tool, context }: ToolCall, result: ToolResult): Attributes {
  const repaired = repairsOf(context) ?? [];
  const cut = wasCut(result) || !fits(result.text, tool.maxTextChars, maxTextBytes);
  return {
    "toolhaft.input.repaired": [...repaired],
    "toolhaft.text.cut": cut,
    ...(result.ok ? {} : { "error.type": result.error.code }),
  };
}

/** A value as JSON, cut between code points. */
function recorded(value: unknown): string {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value) ?? String(value));
  } catch {
    return "[not JSON]"; // cyclic input: the call itself refuses it
  }
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= maxRecordedBytes) return text;
  const cut = new TextDecoder().decode(bytes.subarray(0, maxRecordedBytes));
  return cut.replace(/\ufffd$/, "");
}
