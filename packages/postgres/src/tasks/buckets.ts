import type { Bucket, BucketQuery } from "@toolhaft/tasks";
import { amounts, type BucketPart, bucketsOf, quarterMs } from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue } from "../database.ts";

/** Counts by hour, day or agent. PostgreSQL adds up quarters of an hour, which then fall into hours and days of the zone. */
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
  const parts = await db.all<BucketPart>(
    `SELECT ${query.groupBy === "agent" ? 0 : `${when} / ${quarterMs} * ${quarterMs}`} AS at, ${query.groupBy === "agent" ? agent : "''"} AS agent, t.state,
       count(*) AS n, count(t.usage_json) AS said, ${sums}
     FROM @task t WHERE ${where.join(" AND ")} GROUP BY ${grouping}, 3`,
    values,
  );
  return bucketsOf(parts, query);
}
