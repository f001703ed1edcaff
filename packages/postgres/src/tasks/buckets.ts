import type { Bucket, BucketQuery, TaskState, TaskStatus, Usage } from "@toolhaft/tasks";
import { statuses, statusOf, zoneClock } from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue } from "../database.ts";

/** Every zone of today and of the last century is off UTC by whole quarters of an hour. */
const quarterMs = 900_000;
const amounts = [
  "inputTokens",
  "outputTokens",
  "reasoningTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costUsd",
] as const;

type Part = { at: number; agent: string; state: TaskState; n: number; said: number } & {
  [A in (typeof amounts)[number]]: number | null;
};

/** Counts by hour, day or agent. SQLite adds up quarters of an hour, which then fall into hours and days of the zone. */
export async function readBuckets(db: Sql, query: BucketQuery): Promise<{ buckets: Bucket[]; hidden: number }> {
  const when = "coalesce(t.started_at, t.created_at)";
  const where: string[] = ["true"];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    where.push(condition);
    values.push(value);
  };
  add(`${when} >= ?`, query.from);
  add(`${when} <= ?`, query.to);
  add("t.root = ?", query.rootSession);
  const agent = "coalesce(t.agent, t.claimed_agent, t.assignee, '')";
  const sums = amounts.map((amount) => `sum((t.usage_json::json ->> '${amount}')::float8) AS "${amount}"`).join(", ");
  const grouping = query.groupBy === "agent" ? "2" : "1";
  const parts = await db.all<Part>(
    `SELECT ${query.groupBy === "agent" ? 0 : `${when} / ${quarterMs} * ${quarterMs}`} AS at, ${query.groupBy === "agent" ? agent : "''"} AS agent, t.state,
       count(*) AS n, count(t.usage_json) AS said, ${sums}
     FROM @task t WHERE ${where.join(" AND ")} GROUP BY ${grouping}, 3`,
    values,
  );
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
  const usage: Usage = {
    inputTokens: null,
    outputTokens: null,
    reasoningTokens: null,
    cacheReadTokens: null,
    cacheWriteTokens: null,
    costUsd: null,
    complete: true,
  };
  return { key, count: 0, byStatus, usage };
}
