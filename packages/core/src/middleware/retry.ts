import { aborted } from "../abort.ts";
import { repeating } from "../call.ts";
import { internalsOf } from "../internals.ts";
import { failed } from "../result.ts";
import type { ToolResult } from "../tool.ts";
import type { Middleware } from "./types.ts";
import { waitUntil } from "./wait.ts";

export interface RetryOptions {
  /** Tries in all. @default 3 */
  attempts?: number;
  /** Longest wait after the first failure, doubled after each, in milliseconds. @default 250 */
  baseMs?: number;
  /** Longest wait of all, in milliseconds. @default 8_000 */
  maxMs?: number;
  /** A number from 0 up to 1. @default Math.random */
  random?: () => number;
}

/**
 * Tries again what may succeed later: only failures that say so, only tools that read or are idempotent. Waits a random
 * part of a growing time (full jitter); a failure's own `retryAfterMs` wins over it.
 *
 * @see https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/
 */
export function retry(options: RetryOptions = {}): Middleware {
  const { attempts = 3, baseMs = 250, maxMs = 8_000, random = Math.random } = options;
  if (!Number.isInteger(attempts) || attempts < 1)
    throw new TypeError(`retry: attempts is ${attempts}, a whole number of at least 1 is needed`);
  return repeating(async (call, next) => {
    const { readOnlyHint, idempotentHint } = call.tool.annotations;
    const { signal, clock } = call.context;
    for (let attempt = 1; ; attempt++) {
      const result = await next(call);
      if (
        result.ok ||
        !result.error.retryable ||
        attempt >= attempts ||
        !(readOnlyHint || idempotentHint) ||
        signal.aborted
      )
        return result;
      const wait = retryAfter(result) ?? random() * Math.min(maxMs, baseMs * 2 ** (attempt - 1));
      if (!(await waitUntil(clock, clock.now() + wait, signal))) {
        return failed(
          internalsOf(call.tool),
          aborted(signal, `the call was stopped while it waited to try again after: ${result.error.message}`),
        );
      }
    }
  });
}

function retryAfter(result: ToolResult & { ok: false }): number | undefined {
  const ms = result.error.details?.retryAfterMs;
  return typeof ms === "number" && ms >= 0 ? ms : undefined;
}
