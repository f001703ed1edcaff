import { statusOf } from "./edges.ts";
import { statuses, type TaskState, type TaskStatus, unknownUsage } from "./model.ts";
import type { Bucket, BucketQuery } from "./store.ts";
import { zoneClock } from "./time-zone.ts";

/** Every zone of today and of the last century is off UTC by whole quarters of an hour. */
export const quarterMs = 900_000;
export const amounts = [
  "inputTokens",
  "outputTokens",
  "reasoningTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costUsd",
] as const;

/** What a database has added up: one state in one quarter of an hour, or of one agent. */
export type BucketPart = { at: number; agent: string; state: TaskState; n: number; said: number } & {
  [A in (typeof amounts)[number]]: number | null;
};

/** Quarters of an hour fall into hours and days of the zone; agents stand for themselves. */
export function bucketsOf(parts: readonly BucketPart[], query: BucketQuery): { buckets: Bucket[]; hidden: number } {
  const zone = zoneClock(query.timeZone);
  const found = new Map<string, Bucket>();
  for (const part of parts) {
    const key = query.groupBy === "agent" ? part.agent || "(nobody)" : zone[query.groupBy](part.at);
    const bucket = found.get(key) ?? emptyBucket(key);
    found.set(key, bucket);
    bucket.count += part.n;
    bucket.byStatus[statusOf(part.state)] += part.n;
    for (const amount of amounts) {
      const value = part[amount];
      if (value !== null) bucket.usage[amount] = (bucket.usage[amount] ?? 0) + value;
    }
    if (part.said < part.n) bucket.usage.complete = false;
  }
  const all = [...found.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
  // The newest are what is asked for when not all can be shown.
  const shown = query.groupBy === "agent" ? all.slice(0, query.limit) : all.slice(-query.limit);
  return { buckets: shown, hidden: all.length - shown.length };
}

function emptyBucket(key: string): Bucket {
  const byStatus = Object.fromEntries(statuses.map((status) => [status, 0])) as Record<TaskStatus, number>;
  return { key, count: 0, byStatus, usage: { ...unknownUsage, complete: true } };
}
