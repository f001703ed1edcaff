import type { Page, Task, TaskQuery } from "@toolhaft/tasks";
import {
  afterCondition,
  decodeCursor,
  encodeCursor,
  type SortKey,
  statesOf,
  termsOf,
  toTask,
} from "@toolhaft/tasks/adapter";
import type { Sql, SqlValue } from "../database.ts";
import { type PackedEndedRow, taskColumns, unpackEnded } from "./rows.ts";
import { matchCondition } from "./search.ts";

/** Lists and searches; a page goes on where the last one ended, whatever was added meanwhile. */
export async function findTasks(db: Sql, query: TaskQuery): Promise<Page<Task>> {
  const terms = termsOf(query.text ?? "*");
  const { where, values } = filters(query, terms);
  const order = orderOf(query, terms);
  const position = query.cursor === undefined ? undefined : decodeCursor(query, query.cursor, order.keys.length + 1);
  const newest = position?.[0] ?? (await db.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM @task"))?.seq ?? 0;
  where.push("t.seq <= ?");
  values.push(newest);
  const from = `FROM @task t WHERE ${where.join(" AND ")}`;
  const total = (await db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, values))?.n ?? 0;
  const after = position === undefined ? undefined : afterCondition(order.keys, position.slice(1));
  const keys = order.keys.map(({ sql }, index) => `${sql} AS sort_${index}`).join(", ");
  const sorted = order.keys.map(({ down }, index) => `sort_${index} ${down ? "DESC" : "ASC"}`).join(", ");
  const rows = await db.all<PackedEndedRow & Record<`sort_${number}`, number>>(
    `SELECT ${taskColumns}, p.* FROM (SELECT * FROM (SELECT t.seq AS place, ${keys} ${from}) AS q
       WHERE ${after?.sql ?? "true"} ORDER BY ${sorted} LIMIT ?) AS p JOIN @task t ON t.seq = p.place ORDER BY ${sorted}`,
    [...order.values, ...values, ...(after?.values ?? []), query.limit + 1],
  );
  const page = rows.slice(0, query.limit);
  const last = page.at(-1);
  const more = rows.length > query.limit && last !== undefined;
  return {
    items: page.map((row) => toTask(unpackEnded(row))),
    total,
    nextCursor: more
      ? encodeCursor(query, [newest, ...order.keys.map((_, index) => last[`sort_${index}`] ?? 0)])
      : null,
  };
}

function orderOf(query: TaskQuery, terms: readonly string[]): { keys: SortKey[]; values: SqlValue[] } {
  const newest: SortKey = { sql: "t.seq", down: true };
  if (query.sort === "board")
    return {
      keys: [
        { sql: "t.priority", down: true },
        { sql: "t.seq", down: false },
      ],
      values: [],
    };
  if (query.sort !== "relevance" || terms.length === 0) return { keys: [newest], values: [] };
  // Terms that stand in the title tell what a task is about; then the newest.
  const inTitle = terms.map(() => "(strpos(d.title, ?) > 0)::int").join(" + ");
  return {
    keys: [{ sql: `coalesce((SELECT ${inTitle} FROM @doc d WHERE d.seq = t.seq), 0)`, down: true }, newest],
    values: [...terms],
  };
}

function filters(query: TaskQuery, terms: readonly string[]): { where: string[]; values: SqlValue[] } {
  const where: string[] = [];
  const values: SqlValue[] = [];
  const add = (sql: string, ...more: SqlValue[]) => {
    where.push(sql);
    values.push(...more);
  };
  const match = matchCondition(terms);
  if (match !== undefined) add(match.sql, ...match.values);
  if (query.kind !== undefined) add("t.kind = ?", query.kind);
  if (query.statuses !== undefined) {
    const wanted = query.statuses.flatMap(statesOf);
    add("t.state = ANY(?::text[])", wanted);
  }
  if (query.agent !== undefined) add("t.agent = ?", query.agent);
  if (query.assignee !== undefined) add("t.assignee = ?", query.assignee);
  if (query.createdBy !== undefined)
    add("(t.created_agent = ? OR t.created_session = ?)", query.createdBy, query.createdBy);
  if (query.ownerSession !== undefined) add("t.owner = ?", query.ownerSession);
  if (query.rootSession !== undefined) add("t.root = ?", query.rootSession);
  if (query.parentTask !== undefined) add("t.parent = ?", query.parentTask);
  if (query.sessionId !== undefined) add("t.session_id = ?", query.sessionId);
  if (query.from !== undefined) add("coalesce(t.started_at, t.created_at) >= ?", query.from);
  if (query.to !== undefined) add("coalesce(t.started_at, t.created_at) <= ?", query.to);
  return { where, values };
}
