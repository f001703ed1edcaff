import type { ErrorCode } from "../errors.ts";
import { causeOf } from "../failure.ts";
import { maskSecrets } from "../secrets.ts";
import type { ToolResult } from "../tool.ts";
import type { Middleware, ToolCall } from "./types.ts";

/** What is said of a call, without what it was about. */
export interface LogRecord {
  event: "start" | "end";
  tool: string;
  callId: string;
  sessionId: string;
  agent: string;
  /** Milliseconds since the Unix epoch, by the context's clock. */
  at: number;
  /** At the end: milliseconds it took. */
  ms?: number;
  ok?: boolean;
  code?: ErrorCode;
  /** UTF-16 units of the input as JSON, where it has one, and of the text. */
  sizes: { input?: number; text?: number };
  /** Of an `internal` failure only: where it was thrown. */
  stack?: string;
}

export interface LoggingOptions {
  log(record: LogRecord): void;
}

/** One record at the start and one at the end of each call. Never input, output or hint. */
export function logging({ log }: LoggingOptions): Middleware {
  return async (call, next) => {
    const { context, tool } = call;
    const common = { tool: tool.name, callId: context.callId, sessionId: context.sessionId, agent: context.agent };
    const input = inputSize(call);
    const sizes = input === undefined ? {} : { input };
    log({ event: "start", ...common, at: context.clock.now(), sizes });
    const began = performance.now();
    const result = await next(call);
    const ms = performance.now() - began;
    log({
      event: "end",
      ...common,
      at: context.clock.now(),
      ms,
      ok: result.ok,
      ...failureOf(result),
      sizes: { ...sizes, text: result.text.length },
    });
    return result;
  };
}

function failureOf(result: ToolResult): Pick<LogRecord, "code" | "stack"> {
  if (result.ok) return {};
  const { code } = result.error;
  const cause = code === "internal" ? causeOf(result.error) : undefined;
  const stack = cause instanceof Error ? stackOf(cause) : undefined;
  return stack === undefined ? { code } : { code, stack };
}

/** The frames without the message, which may hold values. */
function stackOf(error: Error): string | undefined {
  try {
    const frames = error.stack?.split("\n").filter((line) => /^\s+at /.test(line));
    return frames === undefined || frames.length === 0 ? undefined : maskSecrets(frames.join("\n"));
  } catch {
    return undefined; // a getter that throws has no stack to show
  }
}

function inputSize({ raw }: ToolCall): number | undefined {
  if (typeof raw === "string") return raw.length;
  try {
    return JSON.stringify(raw)?.length;
  } catch {
    return undefined; // cyclic or otherwise no JSON: it has no size
  }
}
