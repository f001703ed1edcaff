import { setImmediate } from "node:timers/promises";
import { createId, ToolError } from "@toolhaft/core";
import { processStart } from "@toolhaft/core/node";
import type { Database } from "@toolhaft/sqlite";
import { freshness, type KnownFile } from "./file-state.ts";
import type { FileContext, FoundFile, TranscriptFormat } from "./format.ts";
import { type IndexedFile, type IndexRun, indexFile } from "./index-file.ts";
import { dropFile, dropSessions } from "./rows.ts";
import { readStart } from "./start.ts";

/** Files looked at before other work gets its turn. */
const looksPerTurn = 500;
/** Forks of forks that are followed upwards. */
const deepestParents = 50;
const leaseMs = 30_000;
/** Enough for what stands before the first prompt of a rollout. */
const startBytes = 4 * 1024 * 1024;

/** How far the index is behind the files. */
export interface IndexState {
  upToDate: boolean;
  pendingFiles: number;
  pendingBytes: number;
  /** Files that were looked at. */
  seen: number;
  /** Folders and files that could not be read, each with its cause. */
  unreadable: readonly { path: string; cause: string }[];
}

type FileRecord = KnownFile & {
  id: number;
  path: string;
  session: string;
  scope: "head" | "full";
  line: number;
  state: string;
  building: number;
  complete: number;
  directory: string | null;
};

/**
 * Brings the index up to the files: unchanged ones cost one `stat`, grown ones their new bytes, replaced ones a new
 * reading. Stops at the run's deadline and says what is left.
 */
export async function refreshIndex(run: Omit<IndexRun, "context">): Promise<IndexState> {
  const { db, format, signal } = run;
  const known = new Map(db.all<FileRecord>(knownFiles, [format.source]).map((file) => [file.path, file]));
  const unreadable: { path: string; cause: string }[] = [];
  const seen = new Set<string>();
  let pendingFiles = 0;
  let pendingBytes = 0;
  let complete = true;
  for await (const found of format.find(signal)) {
    signal.throwIfAborted();
    if ("unreadable" in found) {
      unreadable.push({ path: found.unreadable, cause: found.cause });
      complete = false;
      continue;
    }
    seen.add(found.path);
    if (seen.size % looksPerTurn === 0) await setImmediate();
    try {
      const left = await refreshFile({ ...run, context: contextOf(db, format, found) }, found, known.get(found.path));
      if (left > 0) pendingFiles += 1;
      pendingBytes += left;
    } catch (error) {
      if (signal.aborted || error instanceof ToolError) throw error;
      unreadable.push({ path: found.path, cause: error instanceof Error ? error.message : String(error) });
    }
  }
  const gone = complete ? [...known.values()].filter(({ path }) => !seen.has(path)) : [];
  if (gone.length > 0) {
    await db.write(() => gone.forEach(({ id }) => void dropFile(db, id)), { signal });
  }
  return { upToDate: pendingFiles === 0, pendingFiles, pendingBytes, seen: seen.size, unreadable };
}

/**
 * Brings one session's file up to date, without a look at any other; undefined when the index does not know the session.
 */
export async function refreshSession(
  run: Omit<IndexRun, "context">,
  session: string,
  depth = 0,
): Promise<true | undefined> {
  const { db, format } = run;
  // Who replays a parent is read after it: what was inherited is told by the parent's totals.
  const above = db.get<{ parent: string | null; parent_kind: string | null }>(
    "SELECT parent, parent_kind FROM sessions WHERE store = ? AND id = ? AND live = 1",
    [format.source, session],
  );
  if (above?.parent != null && depth < deepestParents) await refreshSession(run, above.parent, depth + 1);
  const known = db.all<Omit<FileRecord, "packed"> & { parent: string | null; archived: number; packed: number }>(
    `${knownFiles} AND f.id IN (SELECT file FROM sessions WHERE store = ? AND id = ? AND live = 1)`,
    [format.source, format.source, session],
  );
  if (known.length === 0) return undefined;
  for (const file of known) {
    const found: FoundFile = {
      path: file.path,
      session: file.session,
      parent: file.parent,
      archived: file.archived === 1,
      packed: file.packed === 1,
    };
    await refreshFile({ ...run, context: contextOf(db, format, found) }, found, { ...file, packed: found.packed });
  }
  return true;
}

const knownFiles = `
SELECT f.id, f.path, f.session, f.parent, f.archived, f.scope, f.dev, f.ino, f.size, f.mtime_ns AS mtimeNs, f.offset, f.line, f.head_hash AS headHash, f.tail_hash AS tailHash,
  f.packed, f.state, f.building, f.complete,
  (SELECT s.directory FROM sessions s WHERE s.file = f.id AND s.id = f.session AND s.live = 1) AS directory
FROM files f WHERE f.store = ?`;

/** @returns bytes that are still to be read */
async function refreshFile(run: IndexRun, found: FoundFile, known: FileRecord | undefined): Promise<number> {
  const { db, clock, signal } = run;
  const now = run.format.stat(found.path);
  if (now === undefined) {
    if (known !== undefined) await db.write(() => dropFile(db, known.id), { signal });
    return 0;
  }
  const change =
    known === undefined ? "replaced" : await freshness(found.path, { ...known, packed: found.packed }, now);
  const widen = known?.scope === "head" && run.wanted(known.directory);
  if (change === "unchanged" && known?.complete === 1 && !widen) return 0;
  if (known?.scope === "head" && change === "grown" && !widen) return 0;
  const fromStart = widen || (change === "replaced" && !(known?.building === 1 && known.mtimeNs === now.mtimeNs));
  const left = now.size - (fromStart || found.packed ? 0 : (known?.offset ?? 0));
  if (clock.now() > run.deadline && run.progress.batches > 0) return left;
  const file = await lease(run, found, fromStart);
  if (file === undefined) return left;
  const done = await indexFile(run, found, file, now);
  await db.write(
    () =>
      void db.run("UPDATE files SET lease_until = 0, lease_by = NULL, complete = ? WHERE id = ?", [
        done ? 1 : 0,
        file.id,
      ]),
    { signal },
  );
  return done ? 0 : Math.max(1, now.size - file.offset);
}

/** Takes the file for 30 s, so that two processes do not read it twice; undefined while another one lives that has it. */
async function lease(run: IndexRun, found: FoundFile, fromStart: boolean): Promise<IndexedFile | undefined> {
  const { db, clock, format, signal } = run;
  const owner = `${process.pid} ${processStart(process.pid) ?? ""} ${createId(clock.now())}`;
  return db.write(
    () => {
      const current = db.get<{
        id: number;
        lease_until: number;
        lease_by: string | null;
        offset: number;
        line: number;
        state: string;
        building: number;
        scope: string;
        session: string;
      }>("SELECT id, lease_until, lease_by, offset, line, state, building, scope, session FROM files WHERE path = ?", [
        found.path,
      ]);
      if (current !== undefined && current.lease_until > clock.now() && lives(current.lease_by)) return undefined;
      const until = clock.now() + leaseMs;
      if (current === undefined) {
        const { lastInsertRowid } = db.run(
          `INSERT INTO files(store, path, session, parent, archived, packed, scope, dev, ino, size, mtime_ns, offset, line, head_hash, tail_hash, state, bookkeeping, building, complete, lease_until, lease_by)
           VALUES (?, ?, ?, ?, ?, ?, 'full', '', '', 0, '', 0, 0, '', '', '', 0, 0, 0, ?, ?)`,
          [
            format.source,
            found.path,
            found.session,
            found.parent,
            found.archived ? 1 : 0,
            found.packed ? 1 : 0,
            until,
            owner,
          ],
        );
        return fileOf(found, format.source, Number(lastInsertRowid), 0, 0, "", 0, found.session);
      }
      if (!fromStart) {
        db.run("UPDATE files SET lease_until = ?, lease_by = ? WHERE id = ?", [until, owner, current.id]);
        return fileOf(
          found,
          format.source,
          current.id,
          current.offset,
          current.line,
          current.state,
          current.building,
          current.session,
        );
      }
      dropSessions(db, current.id, 0);
      // Of a file whose head alone was read nothing is shown that would be missed meanwhile.
      const building = current.scope === "head" ? 0 : 1;
      if (building === 0) dropSessions(db, current.id, 1);
      db.run(
        "UPDATE files SET offset = 0, line = 0, state = '', bookkeeping = 0, building = ?, session = ?, lease_until = ?, lease_by = ? WHERE id = ?",
        [building, found.session, until, owner, current.id],
      );
      return fileOf(found, format.source, current.id, 0, 0, "", building, found.session);
    },
    { signal },
  );
}

/** A holder of this machine whose process has ended holds nothing. */
function lives(owner: string | null): boolean {
  if (owner === null) return false;
  const [pid = "", start = ""] = owner.split(" ");
  return String(processStart(Number(pid)) ?? "gone") === start;
}

function fileOf(
  found: FoundFile,
  store: string,
  id: number,
  offset: number,
  line: number,
  state: string,
  building: number,
  session: string,
): IndexedFile {
  const { path, parent, archived, packed } = found;
  return { id, store, path, session, parent, archived, packed, offset, line, state, building };
}

function contextOf(db: Database, format: TranscriptFormat, found: FoundFile): FileContext {
  const store = format.source;
  return {
    totalsOf(session) {
      const row = db.get<{ row: number }>("SELECT row FROM sessions WHERE store = ? AND id = ? AND live = 1", [
        store,
        session,
      ]);
      if (row === undefined) return undefined;
      return db
        .all<{ key: string }>("SELECT key FROM usage WHERE session = ? ORDER BY n", [row.row])
        .map(({ key }) => key);
    },
    async startContains(bytes) {
      const source = found.packed ? format.unpacked(found.path) : found.path;
      return (await readStart(source, startBytes)).includes(bytes);
    },
  };
}
