import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type Database, type Migration, type OpenOptions, openDatabase } from "../src/index.ts";

export const notes: readonly Migration[] = [
  { version: 1, name: "notes", up: "CREATE TABLE notes(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT" },
];

/** A real folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolhaft-sqlite-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Opens a database of notes that is closed after the test. */
export async function openNotes(options: Partial<OpenOptions> = {}): Promise<Database> {
  const path = options.path ?? join(temporaryFolder(), "notes.db");
  const db = await openDatabase({ migrations: notes, family: "notes", ...options, path });
  onTestFinished(() => db.close());
  return db;
}
