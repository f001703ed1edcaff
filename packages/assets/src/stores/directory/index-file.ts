import { accessSync, constants, existsSync } from "node:fs";
import { dirname } from "node:path";
import { isToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import { ANALYSER, SPACE_TOKENIZER } from "@toolhaft/text";
import { type Field, fields, fieldWeights, matchExpression, type QueryTerms, termsVersion } from "../../terms.ts";
import type { FileRecord, ReadRecord } from "./record.ts";

/** A row of the index: which state of a file it holds, and the numbers of its documents. */
export interface IndexRow {
  stamp: string;
  documents: readonly number[];
}

/** A document that holds all words, and a number for each field, 0 where it holds none of them. */
export type MatchRow = { document: number; score: number } & Record<Field, number>;

export function matchedFields(row: MatchRow): Field[] {
  return fields.filter((field) => row[field] !== 0);
}

export interface StoredRow extends IndexRow {
  record: FileRecord;
}

/** The full-text index: a cache in SQLite that may be deleted at any time. */
export interface AssetIndex {
  /** Everything that is stored, by key. */
  load(): Map<string, StoredRow>;
  /** Which states are stored now, by key, without what they hold. */
  rows(): Map<string, IndexRow>;
  /** Rises when another process writes. */
  dataVersion(): number;
  put(entries: readonly { key: string; read: ReadRecord }[]): Promise<Map<string, IndexRow>>;
  /** Notes new stamps of files whose content is as it was. */
  touch(entries: readonly { key: string; record: FileRecord }[]): Promise<void>;
  remove(keys: readonly string[]): Promise<void>;
  /** Documents that hold all words of a query. */
  search(query: QueryTerms): MatchRow[];
  /** Documents that hold some of them. */
  near(query: QueryTerms): { document: number; score: number }[];
  close(): void;
}

const columns = fields.join(", ");
const weights = fields.map((field) => `${fieldWeights[field]}.0`).join(", ");
/** A score that counts one field alone: it is 0 where the field holds no word of the query. */
const fieldScores = fields
  .map((field) => `bm25(words, ${fields.map((one) => (one === field ? "1.0" : "0.0")).join(", ")}) AS ${field}`)
  .join(", ");
const migrations = [
  {
    version: 1,
    name: "files and words",
    up(db: Database) {
      db.run("CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID");
      db.run(
        "CREATE TABLE files(key TEXT PRIMARY KEY, stamp TEXT NOT NULL, record TEXT NOT NULL, documents TEXT NOT NULL) STRICT, WITHOUT ROWID",
      );
      db.run("CREATE TABLE documents(id INTEGER PRIMARY KEY AUTOINCREMENT) STRICT");
      db.run(
        `CREATE VIRTUAL TABLE words USING fts5(${columns}, content='', contentless_delete=1, tokenize=${SPACE_TOKENIZER})`,
      );
    },
  },
  {
    version: 2,
    name: "larger parts at once",
    up(db: Database) {
      // With the usual 1 MiB a first index of a few thousand files is written in dozens of parts and merged again.
      db.run("INSERT INTO words(words, rank) VALUES('hashsize', ?)", [64 * 1024 * 1024]);
    },
  },
];

/**
 * Opens the index, in memory where its folder cannot be written.
 *
 * @throws ToolError `unavailable` when SQLite cannot be loaded
 */
export async function openIndex(path: string, note: (text: string) => void): Promise<AssetIndex> {
  const sqlite = await import("@toolhaft/sqlite");
  const options = { migrations, family: "assets" };
  let db: Database;
  if (!canWrite(path)) {
    note(`${path} cannot be written; the index is kept in memory`);
    db = await sqlite.openMemoryDatabase(options);
  } else {
    try {
      db = await sqlite.openDatabase({ ...options, path, onRebuild: note });
    } catch (error) {
      if (!isToolError(error) || error.code === "cancelled" || /install|driver/i.test(error.message)) throw error;
      note(`${error.message}; the index is kept in memory`);
      db = await sqlite.openMemoryDatabase(options);
    }
  }
  await forgetOldTerms(db);
  return indexOf(db);
}

/** Whether the file, or the nearest folder above it that exists, can be written. */
function canWrite(path: string): boolean {
  let at = path;
  while (!existsSync(at) && dirname(at) !== at) at = dirname(at);
  try {
    accessSync(at, constants.W_OK);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error) return false;
    throw error;
  }
}

async function forgetOldTerms(db: Database): Promise<void> {
  const mark = `${termsVersion} ${ANALYSER.version} ${ANALYSER.icu}`;
  const stored = (): string | undefined =>
    db.get<{ value: string }>("SELECT value FROM meta WHERE key = 'terms'")?.value;
  if (stored() === mark) return;
  await db.write(() => {
    if (stored() === mark) return;
    db.run("DELETE FROM files");
    db.run("DELETE FROM documents");
    db.run("INSERT INTO words(words) VALUES('delete-all')");
    db.run("INSERT INTO meta(key, value) VALUES('terms', ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value", [
      mark,
    ]);
  });
}

function indexOf(db: Database): AssetIndex {
  return {
    load() {
      const stored = db.all<{ key: string; stamp: string; record: string; documents: string }>(
        "SELECT key, stamp, record, documents FROM files",
      );
      return new Map(
        stored.map(({ key, stamp, record, documents }) => [
          key,
          { stamp, record: JSON.parse(record) as FileRecord, documents: numbers(documents) },
        ]),
      );
    },
    rows() {
      const stored = db.all<{ key: string; stamp: string; documents: string }>(
        "SELECT key, stamp, documents FROM files",
      );
      return new Map(stored.map(({ key, stamp, documents }) => [key, { stamp, documents: numbers(documents) }]));
    },
    dataVersion: () => db.get<{ data_version: number }>("PRAGMA data_version")?.data_version ?? 0,
    async put(entries) {
      const rows = new Map<string, IndexRow>();
      await db.write(() => {
        for (const { key, read } of entries) {
          dropDocuments(db, key);
          const documents = read.terms.map((terms) => insertDocument(db, terms));
          const { record } = read;
          db.run("INSERT INTO files(key, stamp, record, documents) VALUES(?, ?, ?, ?)", [
            key,
            record.stamp,
            JSON.stringify(record),
            documents.join(" "),
          ]);
          rows.set(key, { stamp: record.stamp, documents });
        }
      });
      return rows;
    },
    async touch(entries) {
      if (entries.length === 0) return;
      await db.write(() => {
        for (const { key, record } of entries)
          db.run("UPDATE files SET stamp = ?, record = ? WHERE key = ?", [record.stamp, JSON.stringify(record), key]);
      });
    },
    async remove(keys) {
      if (keys.length === 0) return;
      await db.write(() => {
        for (const key of keys) dropDocuments(db, key);
      });
    },
    search(query) {
      if (query.words.length === 0) return [];
      // All scores of a row are made of what FTS5 gathers once for it: asking for the fields apart is a second search.
      return db.all<MatchRow>(
        `SELECT rowid AS document, -bm25(words, ${weights}) AS score, ${fieldScores} FROM words WHERE words MATCH ?`,
        [matchExpression(query, "all")],
      );
    },
    near(query) {
      if (query.words.length === 0) return [];
      return db.all<{ document: number; score: number }>(
        `SELECT rowid AS document, -bm25(words, ${weights}) AS score FROM words WHERE words MATCH ?`,
        [matchExpression(query, "any")],
      );
    },
    close: () => db.close(),
  };
}

function dropDocuments(db: Database, key: string): void {
  const row = db.get<{ documents: string }>("DELETE FROM files WHERE key = ? RETURNING documents", [key]);
  for (const document of numbers(row?.documents ?? "")) {
    db.run("DELETE FROM words WHERE rowid = ?", [document]);
    db.run("DELETE FROM documents WHERE id = ?", [document]);
  }
}

function insertDocument(db: Database, terms: Record<Field, string>): number {
  const id = Number(db.run("INSERT INTO documents DEFAULT VALUES").lastInsertRowid);
  db.run(`INSERT INTO words(rowid, ${columns}) VALUES(?, ${fields.map(() => "?").join(", ")})`, [
    id,
    ...fields.map((field) => terms[field]),
  ]);
  return id;
}

function numbers(text: string): number[] {
  return text === "" ? [] : text.split(" ").map(Number);
}
