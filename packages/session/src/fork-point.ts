import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import { idOf } from "./transcripts/read-messages.ts";

export interface ForkPoint {
  session: number;
  /** Rows of the messages that the fork holds, in reading order. */
  messages: readonly number[];
  at: { messageId: string; index: number };
  /** Where the last line of the point starts. */
  lastOffset: number;
  path: string;
  packed: boolean;
}

interface Row {
  row: number;
  key: string;
  idx: number;
  branch: string;
  parent: string | null;
}

/**
 * The messages from the root to a point. A point whose tool calls have no results is refused: the fork would end inside
 * an answer.
 */
export function forkPoint(db: Database, source: string, id: string, messageId: string | undefined): ForkPoint {
  const session = db.get<{ row: number; path: string; packed: number }>(
    "SELECT s.row, f.path, f.packed FROM sessions s JOIN files f ON f.id = s.file WHERE s.store = ? AND s.id = ? AND s.live = 1",
    [source, id],
  );
  if (session === undefined) throw new ToolError("not_found", `no session ${id} in ${source}`);
  const rows = db.all<Row>("SELECT row, key, idx, branch, parent FROM messages WHERE session = ? ORDER BY idx", [
    session.row,
  ]);
  const main = rows.filter(({ branch }) => branch === "main");
  const point =
    messageId === undefined ? main.at(-1) : rows.find((row) => row.key === messageId || `#${row.idx}` === messageId);
  if (point === undefined) {
    throw new ToolError(
      "not_found",
      messageId === undefined ? "the session has no message to fork at" : "this session has no such message",
      {
        hint: `it has ${main.length} messages: #0 to #${Math.max(0, main.length - 1)}`,
      },
    );
  }
  const path = pathTo(point, rows);
  refuseOpenCalls(db, session.row, point, main);
  const oversize = db.get<{ n: number }>(
    `SELECT count(*) AS n FROM lines WHERE oversize = 1 AND message IN (SELECT value FROM json_each(?))`,
    [JSON.stringify(path.map(({ row }) => row))],
  );
  if ((oversize?.n ?? 0) > 0) {
    throw new ToolError("unsupported", "a line on the path to this message is too long to be copied", {
      hint: "fork at an earlier message",
    });
  }
  const last = db.get<{ offset: number }>("SELECT max(offset) AS offset FROM lines WHERE message = ?", [point.row]);
  return {
    session: session.row,
    messages: path.map(({ row }) => row),
    at: { messageId: idOf(point), index: point.idx },
    lastOffset: last?.offset ?? 0,
    path: session.path,
    packed: session.packed === 1,
  };
}

function pathTo(point: Row, rows: readonly Row[]): Row[] {
  if (point.branch === "main") return rows.filter(({ branch, idx }) => branch === "main" && idx <= point.idx);
  const byKey = new Map(rows.map((row) => [row.key, row]));
  const path: Row[] = [];
  for (let at: Row | undefined = point; at !== undefined && !path.includes(at); at = byKey.get(at.parent ?? ""))
    path.unshift(at);
  return path;
}

function refuseOpenCalls(db: Database, session: number, point: Row, main: readonly Row[]): void {
  const open = (row: number) =>
    (db.get<{ n: number }>(
      "SELECT count(*) AS n FROM calls WHERE session = ? AND message = ? AND status = 'no_result'",
      [session, row],
    )?.n ?? 0) > 0;
  if (!open(point.row)) return;
  const before = main.filter(({ idx, row }) => idx < point.idx && !open(row)).at(-1);
  const after = main.find(({ idx, row }) => idx > point.idx && !open(row));
  const near = [before, after].flatMap((row) => (row === undefined ? [] : [`#${row.idx}`]));
  throw new ToolError("conflict", `#${point.idx} has tool calls without results`, {
    hint: near.length > 0 ? `fork at ${near.join(" or ")}` : "no message of this session can be forked at",
    retryable: false,
  });
}
