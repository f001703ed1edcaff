import type { Sql } from "../database.ts";

/**
 * A stretch of messages that stand in one session's row. A session's messages are its own and, before the point of a
 * fork, those of the sessions above it; a session's own are numbered without a gap.
 */
export interface Stretch {
  /** Row of the session that they stand in. */
  session: number;
  /** Messages with a smaller `seq` belong to it. */
  count: number;
  /** The number, in the whole, of the stretch's first message. */
  base: number;
}

/** Of each session the stretches in their order, the own ones last. */
export async function pathsOf(sql: Sql, sessions: readonly number[]): Promise<Map<number, Stretch[]>> {
  const paths = new Map(sessions.map((session): [number, Stretch[]] => [session, []]));
  if (sessions.length === 0) return paths;
  const rows = await sql.all<{ start: number; session: number; count: number }>(
    `WITH RECURSIVE chain(start, session, below, depth) AS (
       SELECT s, s, 9007199254740991::bigint, 0 FROM unnest(:sessions::bigint[]) AS s
       UNION ALL
       SELECT chain.start, s.parent_row, s.fork_seq + 1, chain.depth + 1
       FROM chain JOIN @sessions s ON s.row = chain.session WHERE s.parent_row IS NOT NULL
     )
     SELECT chain.start, chain.session, least(chain.below, s.next_seq) AS count
     FROM chain JOIN @sessions s ON s.row = chain.session ORDER BY chain.start, chain.depth DESC`,
    { sessions: [...new Set(sessions)] },
  );
  for (const { start, session, count } of rows) {
    const path = paths.get(start);
    path?.push({ session, count, base: lengthOfPath(path) });
  }
  return paths;
}

export async function pathOf(sql: Sql, session: number): Promise<readonly Stretch[]> {
  return (await pathsOf(sql, [session])).get(session) ?? [];
}

export function lengthOfPath(path: readonly Stretch[]): number {
  const last = path.at(-1);
  return last === undefined ? 0 : last.base + last.count;
}

/** The values of `pathTable`. */
export function pathValues(path: readonly Stretch[]): { sessions: number[]; counts: number[]; bases: number[] } {
  return {
    sessions: path.map(({ session }) => session),
    counts: path.map(({ count }) => count),
    bases: path.map(({ base }) => base),
  };
}

/** Messages `m` of a path; `path.base + m.seq` is a message's number. */
export const messagesOfPath = `unnest(:sessions::bigint[], :counts::bigint[], :bases::bigint[]) AS path(session, below, base)
  JOIN @messages m ON m.session = path.session AND m.seq < path.below`;
