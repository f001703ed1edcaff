import { aborted } from "../abort.ts";
import { internalsOf } from "../internals.ts";
import { failed } from "../result.ts";
import type { Middleware, ToolCall } from "./types.ts";
import { waitUntil } from "./wait.ts";

export interface RateLimitOptions {
  /** Calls a second, over time. */
  perSecond: number;
  /** Calls at once after a quiet time. @default perSecond, at least 1 */
  burst?: number;
  /** What is limited together. @default the tool's name */
  key?(call: ToolCall): string;
  /** How long a call may wait for its turn, in milliseconds. @default 0 */
  maxWaitMs?: number;
}

interface Bucket {
  /** Below 0 while calls wait for tokens they have already taken. */
  tokens: number;
  at: number;
}

/** Buckets beyond this many are looked through for full ones, which hold nothing worth keeping. */
const manyBuckets = 1_000;

/**
 * A token bucket on the context's clock. Over it: `unavailable` with `details.retryAfterMs`, or a wait in order of
 * arrival up to `maxWaitMs`.
 */
export function rateLimit(options: RateLimitOptions): Middleware {
  const { perSecond, maxWaitMs = 0, key = (call) => call.tool.name } = options;
  const burst = options.burst ?? Math.max(1, perSecond);
  if (!(perSecond > 0) || !(burst >= 1) || !(maxWaitMs >= 0))
    throw new TypeError("rateLimit: perSecond must be above 0, burst at least 1, maxWaitMs at least 0");
  const buckets = new Map<string, Bucket>();

  const refilled = (bucket: Bucket, now: number): number =>
    Math.min(burst, bucket.tokens + (Math.max(0, now - bucket.at) / 1_000) * perSecond);
  const bucketOf = (name: string, now: number): Bucket => {
    let bucket = buckets.get(name);
    if (bucket === undefined) {
      if (buckets.size >= manyBuckets)
        for (const [other, idle] of buckets) if (refilled(idle, now) >= burst) buckets.delete(other);
      bucket = { tokens: burst, at: now };
      buckets.set(name, bucket);
    }
    bucket.tokens = refilled(bucket, now);
    bucket.at = now;
    return bucket;
  };

  return async (call, next) => {
    const { clock, signal } = call.context;
    const name = key(call);
    const now = clock.now();
    const bucket = bucketOf(name, now);
    const waitMs = bucket.tokens >= 1 ? 0 : Math.ceil(((1 - bucket.tokens) / perSecond) * 1_000);
    if (waitMs > maxWaitMs) {
      return failed(internalsOf(call.tool), {
        code: "unavailable",
        message: `${name} is limited to ${perSecond} calls a second`,
        hint: `call again in ${waitMs} ms`,
        retryable: true,
        details: { retryAfterMs: waitMs },
      });
    }
    bucket.tokens -= 1;
    if (waitMs > 0 && !(await waitUntil(clock, now + waitMs, signal))) {
      bucket.tokens = Math.min(burst, bucket.tokens + 1);
      return failed(
        internalsOf(call.tool),
        aborted(signal, "the call was stopped while it waited for its turn; nothing ran"),
      );
    }
    return next(call);
  };
}
