import pg from "pg";

export interface BareQueue {
  post(count: number): Promise<void>;
  postOne(): Promise<void>;
  /** Claims and finishes up to so many tasks; gives how many there were. */
  work(worker: string): Promise<number>;
  close(): Promise<void>;
}

/**
 * What a queue on bare PostgreSQL needs to hand out each task once, by priority and then age, and to take no result
 * from a holder that is none any more: one table, one statement to claim, one to finish. No history, no notices.
 */
export async function bareQueue(connectionString: string, schema: string, max = 10): Promise<BareQueue> {
  const pool = new pg.Pool({ connectionString, max });
  pool.on("error", () => undefined);
  const table = `"${schema}".q`;
  await pool.query(`CREATE SCHEMA IF NOT EXISTS "${schema}"`);
  await pool.query(`CREATE TABLE IF NOT EXISTS ${table}(seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, title text NOT NULL,
    body text NOT NULL, priority int NOT NULL, owner text NOT NULL, created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    state text NOT NULL DEFAULT 'queued', claimed_by text, lease_until timestamptz, fence int NOT NULL DEFAULT 0,
    ended_at timestamptz, result text)`);
  await pool.query(`CREATE INDEX IF NOT EXISTS q_open ON ${table}(priority DESC, seq) WHERE state = 'queued'`);
  const insert = {
    name: "insert",
    text: `INSERT INTO ${table}(title, body, priority, owner) SELECT 'Task', 'What is to be done.', 0, 'bench' FROM generate_series(1, $1::int)`,
  };
  return {
    async post(count) {
      await pool.query({ ...insert, values: [count] });
    },
    async postOne() {
      await pool.query({ ...insert, values: [1] });
    },
    async work(worker) {
      const { rows } = await pool.query<{ seq: string; fence: number }>({
        name: "claim",
        text: `UPDATE ${table} SET state = 'running', claimed_by = $1, lease_until = clock_timestamp() + interval '60 s', fence = fence + 1
          WHERE seq = (SELECT seq FROM ${table} WHERE state = 'queued' ORDER BY priority DESC, seq LIMIT 1 FOR UPDATE SKIP LOCKED) RETURNING *`,
        values: [worker],
      });
      const [row] = rows;
      if (row === undefined) return 0;
      await pool.query({
        name: "finish",
        text: `UPDATE ${table} SET state = 'completed', result = 'done', ended_at = clock_timestamp(), lease_until = NULL
          WHERE seq = $1 AND fence = $2 AND state = 'running'`,
        values: [row.seq, row.fence],
      });
      return 1;
    },
    close: () => pool.end(),
  };
}
