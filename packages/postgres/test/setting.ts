import { randomBytes } from "node:crypto";
import pg from "pg";
import { afterAll, describe, inject } from "vitest";

/** The server of this run. */
export const databaseUrl = inject("databaseUrl");

/** Tests that need a server; where none can run they are skipped, and counted as such. */
export const describeServer: typeof describe.skip = databaseUrl === "" ? describe.skip : describe;

let schemas = 0;
/** A schema that nobody else has. */
export function newSchema(): string {
  return `t_${randomBytes(5).toString("hex")}_${++schemas}`;
}

/** Of a file's stores: to connect takes longer than most cases. */
export const sharedPool = new pg.Pool({ connectionString: databaseUrl, max: 12 });
sharedPool.on("error", () => undefined);
afterAll(() => sharedPool.end());

/** Statements as the superuser. */
export async function asAdmin(sql: string): Promise<Record<string, unknown>[]> {
  const answer = await sharedPool.query(sql);
  return answer.rows ?? [];
}
