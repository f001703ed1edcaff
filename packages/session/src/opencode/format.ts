import { createHash } from "node:crypto";
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { isMissing, listFolder } from "../folders.ts";
import type { LineSource } from "../lines.ts";
import { objects } from "../shapes.ts";
import type { FileStat } from "../transcripts/file-state.ts";
import type { Found, FoundFile, TranscriptFormat } from "../transcripts/format.ts";
import { HostDatabases } from "./database.ts";
import { opencodeInterpreter, partsOf } from "./interpreter.ts";
import { listSessions, type SessionRecord, sessionRecords } from "./records.ts";
import { snapshotChanges } from "./snapshots.ts";
import { filesOf, type StoredSession, storedRecords, storedSessions } from "./storage.ts";

/** Where a session stands: in a database, or in files of the older layout. */
type Origin = { kind: "database"; database: string; id: string } | { kind: "storage"; session: StoredSession };

/** `$XDG_DATA_HOME/opencode`, else `~/.local/share/opencode`. */
export function opencodeData(environment: NodeJS.ProcessEnv = process.env): string {
  return join(environment.XDG_DATA_HOME || join(environment.HOME ?? homedir(), ".local", "share"), "opencode");
}

/**
 * opencode's sessions as transcripts: each is a file that is made while it is read, a line per record. Its name is the
 * database and the session's id.
 */
export function opencodeFormat(data: string, database: string | undefined): TranscriptFormat & AsyncDisposable {
  const databases = new HostDatabases();
  const origins = new Map<string, { origin: Origin; stamp: FileStat }>();
  const storage = join(data, "storage");

  async function* find(signal: AbortSignal): AsyncIterable<readonly Found[]> {
    origins.clear();
    const seen = new Set<string>();
    const { paths, unreadable } = await databaseFiles(data, database);
    yield unreadable;
    for (const path of paths) {
      signal.throwIfAborted();
      const batch: FoundFile[] = [];
      try {
        for (const session of listSessions(await databases.at(path))) {
          if (seen.has(session.id)) continue;
          seen.add(session.id);
          const file = `${path}#${session.id}`;
          origins.set(file, {
            origin: { kind: "database", database: path, id: session.id },
            stamp: stampOf(path, session.stamp),
          });
          batch.push(found(file, session.id, session.archived));
        }
      } catch (error) {
        if (signal.aborted) throw error;
        yield [{ unreadable: path, cause: error instanceof Error ? error.message : String(error) }];
      }
      yield batch;
    }
    for await (const session of storedSessions(storage, signal)) {
      if ("unreadable" in session) yield [session];
      else if (!seen.has(session.id)) {
        seen.add(session.id);
        origins.set(session.path, {
          origin: { kind: "storage", session },
          stamp: await storageStamp(storage, session),
        });
        yield [found(session.path, session.id, false)];
      }
    }
  }

  async function* records(path: string): AsyncIterable<SessionRecord> {
    const origin = origins.get(path)?.origin;
    if (origin?.kind === "database") yield* sessionRecords(await databases.at(origin.database), origin.id);
    else if (origin?.kind === "storage") yield* storedRecords(storage, origin.session);
  }

  return {
    source: "opencode",
    isRecord: (value) => typeof value.type === "string",
    find,
    unpacked: (path) => linesOf(() => records(path)),
    stat: (path) => origins.get(path)?.stamp,
    statsAlone: false,
    interpreter: async () => opencodeInterpreter(),
    async keptChanges(path, upTo, recorded, signal) {
      const whole = recorded.changes.length > 0;
      // What is recorded stands for the whole session.
      if (whole && upTo === undefined) return undefined;
      try {
        const kept = await snapshotChanges(data, records(path), upTo, signal);
        if (kept !== undefined || !whole) return kept;
      } catch (error) {
        if (!whole || signal.aborted) throw error;
      }
      const note = "opencode recorded these changes for the whole session, not up to a message.";
      return { ...recorded, notes: [...recorded.notes, note] };
    },
    parts: (record) => (record.type === "message" ? partsOf(objects(record.parts)) : { content: [], results: [] }),
    [Symbol.asyncDispose]: () => databases.close(),
  };
}

function found(path: string, session: string, archived: boolean): FoundFile {
  return { path, session, parent: null, archived, packed: true };
}

function linesOf(records: () => AsyncIterable<SessionRecord>): LineSource {
  return {
    async *chunks(from, signal) {
      let skip = from;
      for await (const record of records()) {
        signal.throwIfAborted();
        const line = Buffer.from(`${JSON.stringify(record)}\n`);
        if (skip >= line.length) skip -= line.length;
        else {
          yield line.subarray(skip);
          skip = 0;
        }
      }
    },
  };
}

/** Channels have databases of their own; the newest comes first. */
async function databaseFiles(
  data: string,
  named: string | undefined,
): Promise<{ paths: readonly string[]; unreadable: readonly Found[] }> {
  if (named !== undefined) return { paths: [named], unreadable: [] };
  const files: { path: string; mtime: number }[] = [];
  const unreadable: Found[] = [];
  for (const listed of await listFolder(data)) {
    if ("unreadable" in listed) unreadable.push(listed);
    else if (/^opencode.*\.db$/.test(listed.entry.name)) {
      try {
        files.push({ path: listed.path, mtime: (await stat(listed.path)).mtimeMs });
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
  }
  return { paths: files.sort((a, b) => b.mtime - a.mtime).map(({ path }) => path), unreadable };
}

/** Rows that changed give another stamp; their number stands in for a size. */
function stampOf(path: string, stamp: string): FileStat {
  const hash = createHash("sha256").update(stamp).digest("hex").slice(0, 15);
  return { dev: "opencode", ino: path, size: stamp.length, mtimeNs: String(BigInt(`0x${hash}`)) };
}

async function storageStamp(storage: string, session: StoredSession): Promise<FileStat> {
  const stamps: string[] = [];
  let size = 0;
  for (const file of await filesOf(storage, session)) {
    try {
      const { mtimeMs, size: bytes } = await stat(file);
      stamps.push(`${file} ${mtimeMs} ${bytes}`);
      size += bytes;
    } catch (error) {
      if (!isMissing(error)) throw error;
    }
  }
  return { ...stampOf(session.path, stamps.join("\n")), size };
}
