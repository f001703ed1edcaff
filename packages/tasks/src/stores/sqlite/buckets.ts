import type { Database, SqlValue } from "@toolhaft/sqlite";
import { amounts, type BucketPart, bucketsOf, quarterMs } from "../../buckets.ts";
import type { Bucket, BucketQuery } from "../../store.ts";

/** Counts by hour, day or agent. SQLite adds up quarters of an hour, which then fall into hours and days of the zone. */
export function readBuckets(db: Database, query: BucketQuery): { buckets: Bucket[]; hidden: number } {
  const when = "coalesce(t.started_at, t.created_at)";
  const where: string[] = ["1"];
  const values: SqlValue[] = [];
  const add = (condition: string, value: SqlValue | undefined) => {
    if (value === undefined) return;
    where.push(condition);
    values.push(value);
  };
  add(`${when} >= ?`, query.from);
  add(`${when} <= ?`, query.to);
  add("t.root = ?", query.rootSession);
  const sums = amounts.map((amount) => `sum(json_extract(t.usage_json, '$.${amount}')) AS ${amount}`).join(", ");
  const grouping = query.groupBy === "agent" ? "agent" : "at";
  const parts = db.all<BucketPart>(
    `SELECT ${when} / ${quarterMs} * ${quarterMs} AS at, coalesce(t.agent, t.claimed_agent, t.assignee, '') AS agent, t.state,
       count(*) AS n, count(t.usage_json) AS said, ${sums}
     FROM task t WHERE ${where.join(" AND ")} GROUP BY ${grouping}, t.state`,
    values,
  );
  return bucketsOf(parts, query);
}
