import type { Message, Summary } from "@toolhaft/session";
import {
  messageFrom,
  type RecordedMessage,
  type RecordedPart,
  type RecordedSession,
  summaryFrom,
} from "@toolhaft/session/adapter";
import type { Sql } from "../database.ts";
import { lengthOfPath, pathsOf, type Stretch } from "./path.ts";

export interface SessionRow extends RecordedSession {
  row: number;
  archived: boolean;
  todos: string | null;
  /** Id of the message that it was forked at. */
  point: string | null;
}

export const selectSessions = `SELECT s.*, (SELECT count(*) FROM @sessions c WHERE c.parent = s.id) AS children,
  (SELECT m.id FROM @messages m WHERE m.session = s.parent_row AND m.seq = s.fork_seq) AS point FROM @sessions s`;

export function rowOf(sql: Sql, id: string): Promise<SessionRow | undefined> {
  return sql.get<SessionRow>(`${selectSessions} WHERE s.id = ?`, [id]);
}

/** All of them in two statements. */
export async function summariesOf(sql: Sql, rows: readonly SessionRow[]): Promise<Summary[]> {
  if (rows.length === 0) return [];
  const starts = rows.map(({ row }) => row);
  const paths = await pathsOf(sql, starts);
  const stretches = [...paths].flatMap(([start, path]) => path.map((stretch) => ({ start, ...stretch })));
  const facts = await sql.all<{ start: number; prompts: number; models: string[] | null }>(
    `SELECT path.start, count(*) FILTER (WHERE m.kind = 'prompt') AS prompts,
       array_agg(DISTINCT m.model) FILTER (WHERE m.model IS NOT NULL) AS models
     FROM unnest(:starts::bigint[], :sessions::bigint[], :counts::bigint[]) AS path(start, session, below)
     JOIN @messages m ON m.session = path.session AND m.seq < path.below GROUP BY path.start`,
    {
      starts: stretches.map(({ start }) => start),
      sessions: stretches.map(({ session }) => session),
      counts: stretches.map(({ count }) => count),
    },
  );
  const factsOf = new Map(facts.map((one) => [one.start, one]));
  return rows.map((row) =>
    summaryFrom(row, {
      archived: row.archived,
      messages: lengthOfPath(paths.get(row.row) ?? []),
      prompts: factsOf.get(row.row)?.prompts ?? 0,
      models: factsOf.get(row.row)?.models ?? [],
      point: row.point,
    }),
  );
}

export interface MessageRow extends RecordedMessage {
  session: number;
  seq: number;
}

/** Messages with their parts, as they stand on a path. */
export async function messagesOf(
  sql: Sql,
  rows: readonly MessageRow[],
  pathFor: (row: MessageRow) => readonly Stretch[],
): Promise<Message[]> {
  if (rows.length === 0) return [];
  const partsOf = new Map<number, RecordedPart[]>(rows.map(({ row }) => [row, []]));
  const found = await sql.all<RecordedPart & { message: number }>(
    "SELECT * FROM @parts WHERE message = ANY(?::bigint[]) ORDER BY message, n",
    [rows.map(({ row }) => row)],
  );
  for (const part of found) partsOf.get(part.message)?.push(part);
  return rows.map((row) => {
    const path = pathFor(row);
    const base = path.find(({ session }) => session === row.session)?.base ?? 0;
    const inherited = row.session !== path.at(-1)?.session;
    return messageFrom(row, { index: base + row.seq, inherited }, partsOf.get(row.row) ?? []);
  });
}
