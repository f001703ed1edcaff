import { randomBytes } from "node:crypto";
import pg from "pg";
import { describe, inject } from "vitest";

/** The server of this run. */
export const databaseUrl = inject("databaseUrl");

/** Tests that need a server; where none can run they are skipped, and counted as such. */
export const describeServer: typeof describe.skip = databaseUrl === "" ? describe.skip : describe;

let schemas = 0;
/** A schema that nobody else has. */
export function newSchema(): string {
  return `t_${randomBytes(5).toString("hex")}_${++schemas}`;
}

/** One statement as the superuser. */
export async function asAdmin(sql: string, url = databaseUrl): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const answer = await client.query(sql);
    return answer.rows ?? [];
  } finally {
    await client.end();
  }
}
