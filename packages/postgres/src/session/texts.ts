import type { PostgresDatabase, Sql, SqlValue, SqlValues, Transaction } from "../database.ts";

/** A transcript holds what programs printed, also NUL, which no text of PostgreSQL can: it is written as another sign. */
const sign = "\u001a";

function written(text: string): string {
  if (!text.includes("\0") && !text.includes(sign)) return text;
  return text.replaceAll(sign, `${sign}1`).replaceAll("\0", `${sign}0`);
}

function read(text: string): string {
  if (!text.includes(sign)) return text;
  return text.replaceAll(`${sign}0`, "\0").replaceAll(`${sign}1`, sign);
}

/** The same statements, with texts that come back as they were given. */
export function keepingTexts(db: PostgresDatabase): PostgresDatabase {
  return {
    ...db,
    ...wrapped(db),
    transaction: (job) => db.transaction((sql) => job(wrappedTransaction(sql))),
  };
}

function wrappedTransaction(sql: Transaction): Transaction {
  return { now: sql.now, ...wrapped(sql) };
}

function wrapped(sql: Sql): Sql {
  return {
    async get<T>(text: string, values?: SqlValues) {
      const row = await sql.get<T>(text, sent(values));
      return row === undefined ? undefined : readRow(row);
    },
    all: async <T>(text: string, values?: SqlValues) => (await sql.all<T>(text, sent(values))).map(readRow),
    run: (text, values) => sql.run(text, sent(values)),
  };
}

function sent(values: SqlValues = []): SqlValues {
  if (isList(values)) return values.map(sendable);
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, sendable(value)]));
}

function isList(values: SqlValues): values is readonly SqlValue[] {
  return Array.isArray(values);
}

function sendable(value: SqlValue): SqlValue {
  if (typeof value === "string") return written(value);
  return Array.isArray(value) ? value.map((one: unknown) => (typeof one === "string" ? written(one) : one)) : value;
}

function readRow<T>(row: T): T {
  const found = row as Record<string, unknown>;
  for (const [name, value] of Object.entries(found)) {
    if (typeof value === "string") found[name] = read(value);
    else if (Array.isArray(value)) found[name] = value.map((one) => (typeof one === "string" ? read(one) : one));
  }
  return row;
}
