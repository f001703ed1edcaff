import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { isMissing, listFolder } from "../folders.ts";
import { isObject, type JsonRecord } from "../json-line.ts";
import { finite, nonEmpty, object, objects } from "../shapes.ts";
import { messageRecords, parsed, type SessionRecord, type StoredMessage } from "./records.ts";

export interface StoredSession {
  id: string;
  /** File of the session's own record. */
  path: string;
}

/** Sessions of the older layout, one JSON file for everything: `storage/session/<project>/<id>.json`, or `session/info/<id>.json`. */
export async function* storedSessions(
  storage: string,
  signal: AbortSignal,
): AsyncIterable<StoredSession | { unreadable: string; cause: string }> {
  for (const project of await listFolder(join(storage, "session"))) {
    signal.throwIfAborted();
    if ("unreadable" in project) yield project;
    else if (project.entry.isDirectory() && project.entry.name !== "message" && project.entry.name !== "part") {
      for (const file of await listFolder(project.path)) {
        if ("unreadable" in file) yield file;
        else if (file.entry.isFile() && file.entry.name.endsWith(".json"))
          yield { id: basename(file.path, ".json"), path: file.path };
      }
    }
  }
}

/** Every file that belongs to a session: what tells that it changed. */
export async function filesOf(storage: string, session: StoredSession): Promise<string[]> {
  const { messages, parts } = foldersOf(storage, session);
  const files = [
    session.path,
    join(storage, "todo", `${session.id}.json`),
    join(storage, "session_diff", `${session.id}.json`),
  ];
  for (const message of await jsonFiles(messages))
    files.push(message, ...(await jsonFiles(parts(basename(message, ".json")))));
  return files;
}

/** The records of one session of the older layout. */
export async function* storedRecords(storage: string, session: StoredSession): AsyncIterable<SessionRecord> {
  const info = object(await jsonAt(session.path)) ?? {};
  yield { type: "session", session: info, parent: nonEmpty(info.parentID) ?? null, fork: null };
  const { messages, parts } = foldersOf(storage, session);
  const stored: StoredMessage[] = [];
  for (const path of await jsonFiles(messages)) {
    const id = basename(path, ".json");
    const data = object(await jsonAt(path));
    const contents: (JsonRecord | undefined)[] = [];
    for (const part of await jsonFiles(parts(id))) contents.push(object(await jsonAt(part)));
    stored.push({ id, at: finite(object(data?.time)?.created) ?? 0, data, parts: contents });
  }
  stored.sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  yield* messageRecords(stored, 0, object(info.revert));
  const todos = objects(await jsonAt(join(storage, "todo", `${session.id}.json`)));
  if (todos.length > 0) yield { type: "todos", todos };
  const changes = objects(await jsonAt(join(storage, "session_diff", `${session.id}.json`)));
  if (changes.length > 0) yield { type: "changes", changes };
}

function foldersOf(storage: string, session: StoredSession): { messages: string; parts(message: string): string } {
  // The first layout keeps everything below `session/`.
  return basename(join(session.path, "..")) === "info"
    ? {
        messages: join(storage, "session", "message", session.id),
        parts: (message) => join(storage, "session", "part", session.id, message),
      }
    : { messages: join(storage, "message", session.id), parts: (message) => join(storage, "part", message) };
}

async function jsonFiles(folder: string): Promise<string[]> {
  const files: string[] = [];
  for (const listed of await listFolder(folder)) {
    if ("unreadable" in listed) throw new Error(`${listed.unreadable}: ${listed.cause}`);
    if (listed.entry.isFile() && listed.entry.name.endsWith(".json")) files.push(listed.path);
  }
  return files;
}

/** Undefined when the file is absent or damaged. */
async function jsonAt(path: string): Promise<unknown> {
  try {
    const value = parsed(await readFile(path, "utf8"));
    return isObject(value) || Array.isArray(value) ? value : undefined;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
