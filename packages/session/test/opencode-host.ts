import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import Database from "better-sqlite3";

export function openHostDatabase(path: string): InstanceType<typeof Database> {
  return new Database(path);
}

/** A database as opencode keeps it, with one prompt and one answer. */
export async function writeOpencode(
  data: string,
  directory: string,
  options: { id: string; file?: string; workspace?: boolean; wal?: boolean },
): Promise<string> {
  await mkdir(data, { recursive: true });
  const path = join(data, options.file ?? "opencode.db");
  const db = openHostDatabase(path);
  db.exec("PRAGMA journal_mode = WAL");
  db.exec(`
    CREATE TABLE session(id TEXT PRIMARY KEY, project_id TEXT, ${options.workspace === false ? "" : "workspace_id TEXT,"} parent_id TEXT, directory TEXT, title TEXT, version TEXT, revert TEXT, time_created INTEGER, time_updated INTEGER, time_archived INTEGER, summary_diffs TEXT);
    CREATE TABLE message(id TEXT PRIMARY KEY, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE part(id TEXT PRIMARY KEY, message_id TEXT, session_id TEXT, time_created INTEGER, time_updated INTEGER, data TEXT);
    CREATE TABLE todo(session_id TEXT, content TEXT, status TEXT, priority TEXT, position INTEGER, time_created INTEGER, time_updated INTEGER);
  `);
  const at = 1_772_442_000_000;
  db.prepare(
    "INSERT INTO session(id, project_id, directory, title, version, time_created, time_updated) VALUES (?, 'p', ?, 'Rename the parser', '1.18.33', ?, ?)",
  ).run(options.id, directory, at, at + 5_000);
  const message = db.prepare("INSERT INTO message VALUES (?, ?, ?, ?, ?)");
  message.run(`${options.id}_m1`, options.id, at, at, JSON.stringify({ role: "user", time: { created: at } }));
  const answer = {
    role: "assistant",
    parentID: `${options.id}_m1`,
    modelID: "m",
    providerID: "p",
    cost: 0.5,
    tokens: { input: 1, output: 2, reasoning: 3, cache: { read: 4, write: 5 } },
    time: { created: at + 5_000 },
  };
  message.run(`${options.id}_m2`, options.id, at + 5_000, at + 5_000, JSON.stringify(answer));
  const part = db.prepare("INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)");
  part.run(
    `${options.id}_p1`,
    `${options.id}_m1`,
    options.id,
    at,
    at,
    JSON.stringify({ type: "text", text: "Rename the parser" }),
  );
  part.run(
    `${options.id}_p2`,
    `${options.id}_m2`,
    options.id,
    at,
    at,
    JSON.stringify({ type: "text", text: "Renamed it." }),
  );
  db.close();
  return path;
}
