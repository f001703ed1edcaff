import { ToolError } from "@toolhaft/core";
import type { NewMessage } from "@toolhaft/session";
import { contentHash, costRow, messageKindOf, otherContent, partRow, titleFrom } from "@toolhaft/session/adapter";
import type { SqlValue, Transaction } from "../database.ts";

interface OpenSession {
  row: number;
  next_seq: number;
  title: string;
}

/** The session's row, held until the end of the transaction: it hands out the numbers of messages. */
export async function lockSession(sql: Transaction, id: string): Promise<OpenSession> {
  const session = await sql.get<OpenSession>(
    "SELECT row, next_seq, title FROM @sessions WHERE id = ? FOR NO KEY UPDATE",
    [id],
  );
  if (session === undefined) throw new ToolError("not_found", `no session ${id}`);
  return session;
}

/** The same message again is nothing; under one id another content is a conflict. All of them, or none. */
export async function appendMessages(sql: Transaction, id: string, messages: readonly NewMessage[]): Promise<void> {
  const session = await lockSession(sql, id);
  const known = new Map(
    (
      await sql.all<{ id: string; hash: string }>(
        "SELECT id, hash FROM @messages WHERE session = ? AND id = ANY(?::text[])",
        [session.row, messages.map((message) => message.id)],
      )
    ).map(({ id, hash }) => [id, hash]),
  );
  const fresh: { message: NewMessage; hash: string; at: string }[] = [];
  for (const message of messages) {
    const hash = contentHash(message);
    const before = known.get(message.id);
    if (before !== undefined && before !== hash) throw otherContent(message.id);
    if (before !== undefined) continue;
    known.set(message.id, hash);
    fresh.push({ message, hash, at: message.at ?? new Date(sql.now).toISOString() });
  }
  if (fresh.length === 0) return;
  const rows = fresh.map(({ message, hash, at }, n) => ({
    seq: session.next_seq + n,
    id: message.id,
    role: message.role,
    kind: messageKindOf(message),
    at,
    hash,
    ...costRow(message),
  }));
  const parts = fresh.flatMap(({ message }, m) =>
    message.parts.map((part, n) => ({ seq: session.next_seq + m, n, ...partRow(part) })),
  );
  await sql.run(
    `WITH message AS (
       INSERT INTO @messages(session, seq, id, role, kind, at, hash, model, provider, input, output, reasoning, cache_read, cache_write, usd)
       SELECT :session, m.* FROM unnest(:m_seq::bigint[], :m_id::text[], :m_role::text[], :m_kind::text[], :m_at::text[], :m_hash::text[],
         :m_model::text[], :m_provider::text[], :m_input::bigint[], :m_output::bigint[], :m_reasoning::bigint[],
         :m_cache_read::bigint[], :m_cache_write::bigint[], :m_usd::double precision[]) AS m
       RETURNING row, seq
     ), part AS (
       INSERT INTO @parts(message, n, kind, text, tool, call_id, input, output, status, file_name, mime, bytes)
       SELECT message.row, p.n, p.kind, p.text, p.tool, p.call_id, p.input, p.output, p.status, p.file_name, p.mime, p.bytes
       FROM unnest(:p_seq::bigint[], :p_n::int[], :p_kind::text[], :p_text::text[], :p_tool::text[], :p_call_id::text[], :p_input::text[],
         :p_output::text[], :p_status::text[], :p_file_name::text[], :p_mime::text[], :p_bytes::bigint[])
         AS p(seq, n, kind, text, tool, call_id, input, output, status, file_name, mime, bytes)
       JOIN message ON message.seq = p.seq ORDER BY p.seq, p.n
       RETURNING row
     )
     INSERT INTO @waiting(part) SELECT row FROM part`,
    { session: session.row, ...columnsOf("m", rows), ...columnsOf("p", parts) },
  );
  const titles = fresh
    .filter(({ message }) => messageKindOf(message) === "prompt")
    .map(({ message }) => titleFrom(message));
  await sql.run(
    `UPDATE @sessions SET next_seq = next_seq + :count::int, title = :title, updated = greatest(updated, :latest COLLATE "C")
     WHERE row = :row`,
    {
      row: session.row,
      count: fresh.length,
      title: session.title || (titles.find((title) => title !== "") ?? ""),
      latest:
        fresh
          .map(({ at }) => at)
          .sort()
          .at(-1) ?? "",
    },
  );
}

/** Rows as one array for each column. */
function columnsOf<T extends object>(prefix: string, rows: readonly T[]): Record<string, SqlValue> {
  const columns: Record<string, unknown[]> = {};
  for (const row of rows) {
    for (const [name, value] of Object.entries(row)) {
      const key = `${prefix}_${name}`;
      const column = columns[key];
      if (column === undefined) columns[key] = [value];
      else column.push(value);
    }
  }
  return columns;
}
