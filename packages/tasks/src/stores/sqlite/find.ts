import type { Database, SqlValue } from "@toolhaft/sqlite";
import { statesOf } from "../../edges.ts";
import type { Task } from "../../model.ts";
import { afterCondition, decodeCursor, encodeCursor, type SortKey } from "../../page-cursor.ts";
import { termsOf } from "../../search-text.ts";
import type { Page, TaskQuery } from "../../store.ts";
import { kindSql, limitSql, type PackedEndedRow, stateSql, taskColumns, toTask, unpackEnded } from "./rows.ts";
import { matchCondition } from "./search.ts";

/** Lists and searches; a page goes on where the last one ended, whatever was added meanwhile. */
export function findTasks(db: Database, query: TaskQuery): Page<Task> {
  const terms = termsOf(query.text ?? "*");
  const { where, values } = filters(query, terms);
  const order = orderOf(query, terms);
  const position = query.cursor === undefined ? undefined : decodeCursor(query, query.cursor, order.keys.length + 1);
  const newest = position?.[0] ?? db.get<{ seq: number | null }>("SELECT max(seq) AS seq FROM task")?.seq ?? 0;
  where.push("t.seq <= ?");
  values.push(newest);
  const after = position === undefined ? undefined : afterCondition(order.keys, position.slice(1));
  const keys = order.keys.map(({ sql }, index) => `${sql} AS sort_${index}`).join(", ");
  const sorted = order.keys.map(({ down }, index) => `sort_${index} ${down ? "DESC" : "ASC"}`).join(", ");
  const from = `FROM task t WHERE ${where.join(" AND ")}`;
  const count = () => db.get<{ n: number }>(`SELECT count(*) AS n ${from}`, values)?.n ?? 0;
  // Texts are looked through once: what was found is kept, counted, and only a page of it read whole.
  const searched = terms.length > 0;
  const rows = db.all<PackedEndedRow & { total: number } & Record<`sort_${number}`, number>>(
    `WITH hit AS ${searched ? "MATERIALIZED" : "NOT MATERIALIZED"} (SELECT t.seq AS found, ${keys} ${from})
     SELECT ${taskColumns}, h.*, ${searched ? "(SELECT count(*) FROM hit)" : "0"} AS total
     FROM (SELECT * FROM hit WHERE ${after?.sql ?? "1"} ORDER BY ${sorted} ${limitSql(query.limit + 1)}) h CROSS JOIN task t ON t.seq = h.found
     ORDER BY ${sorted}`,
    [...order.values, ...values, ...(after?.values ?? [])],
  );
  const total = searched && rows[0] !== undefined ? rows[0].total : count();
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
  const inTitle = terms.map(() => "(instr(d.title, ?) > 0)").join(" + ");
  return {
    keys: [{ sql: `coalesce((SELECT ${inTitle} FROM doc d WHERE d.seq = t.seq), 0)`, down: true }, newest],
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
  if (query.kind !== undefined) add(`t.kind = ${kindSql(query.kind)}`);
  if (query.statuses !== undefined) {
    const wanted = query.statuses.flatMap(statesOf);
    add(`t.state IN (${wanted.map(stateSql).join(", ")})`);
  }
  if (query.agent !== undefined) add("t.agent = ?", query.agent);
  if (query.assignee !== undefined) add("t.assignee = ?", query.assignee);
  if (query.createdBy !== undefined)
    add("(t.created_agent = ? OR t.created_session = ?)", query.createdBy, query.createdBy);
  if (query.ownerSession !== undefined) add(ownedBy, query.ownerSession, query.ownerSession, query.ownerSession);
  if (query.rootSession !== undefined) add("t.root = ?", query.rootSession);
  if (query.parentTask !== undefined) add("t.parent = ?", query.parentTask);
  if (query.sessionId !== undefined) add("t.session_id = ?", query.sessionId);
  if (query.from !== undefined) add("coalesce(t.started_at, t.created_at) >= ?", query.from);
  if (query.to !== undefined) add("coalesce(t.started_at, t.created_at) <= ?", query.to);
  return { where, values };
}

/** The index of owners holds only tasks of which the owner is not the root as well. */
const ownedBy = `t.seq IN (SELECT seq FROM task WHERE root = ? AND owner = ?
  UNION ALL SELECT seq FROM task WHERE owner = ? AND owner <> root)`;
