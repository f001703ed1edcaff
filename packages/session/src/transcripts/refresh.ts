import { setImmediate } from "node:timers/promises";
import { ToolError } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { IndexProgress } from "../store.ts";
import { isHeld, type Lease } from "./claim.ts";
import { type FileStat, freshness, type KnownFile, lastTimeOf } from "./file-state.ts";
import type { FileContext, FoundFile, TranscriptFormat } from "./format.ts";
import { type IndexedFile, type IndexRun, indexFile } from "./index-file.ts";
import { nameSessions } from "./names.ts";
import { dropFile, dropFileAt, touchHead } from "./rows.ts";
import { readStart } from "./start.ts";
import type { SessionRow } from "./summaries.ts";

/** Heads of files that are written together. */
const headsAtOnce = 200;
/** Files looked at before other work gets its turn. */
const looksPerTurn = 500;
/** Forks of forks that are followed upwards. */
const deepestParents = 50;
/** Enough for what stands before the first prompt of a rollout. */
const startBytes = 4 * 1024 * 1024;

export interface IndexState extends IndexProgress {
  /** Files that were looked at. */
  seen: number;
}

type FileRecord = KnownFile &
  Lease & {
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
  const known = fileMarks(db, format.source);
  const outside = run.looksInside ? headsOf(db, format.source) : undefined;
  const unreadable: { path: string; cause: string }[] = [];
  let seen = 0;
  let pendingFiles = 0;
  let pendingBytes = 0;
  let complete = true;
  const changed: FoundFile[] = [];
  for await (const batch of format.find(signal)) {
    for (const found of batch) {
      if ("unreadable" in found) {
        unreadable.push({ path: found.unreadable, cause: found.cause });
        complete = false;
        continue;
      }
      seen += 1;
      if (seen % looksPerTurn === 0) {
        await setImmediate();
        signal.throwIfAborted();
      }
      const mark = known.get(found.path);
      // What is left at the end has gone.
      if (mark !== undefined) known.delete(found.path);
      if (mark === undefined || !isAsMarked(run, found, mark, outside)) changed.push(found);
    }
  }
  // Before anything is read: a session that was moved to another file is told by that one alone.
  const gone = complete ? [...known.keys()] : [];
  if (gone.length > 0) await db.write(() => gone.forEach((path) => void dropFileAt(db, path)), { signal });
  for (const found of changed) {
    signal.throwIfAborted();
    try {
      const file = db.get<FileRecord>(`${knownFiles} AND f.path = ?`, [format.source, found.path]);
      const left = await refreshFile({ ...run, context: contextOf(db, format, found) }, found, file);
      if (left > 0) pendingFiles += 1;
      pendingBytes += left;
      if (run.heads.length >= headsAtOnce) await writeHeads(run);
    } catch (error) {
      if (signal.aborted || error instanceof ToolError) throw error;
      unreadable.push({ path: found.path, cause: error instanceof Error ? error.message : String(error) });
    }
  }
  await writeHeads(run);
  await nameSessions(run);
  return { upToDate: pendingFiles === 0, pendingFiles, pendingBytes, seen, unreadable };
}

/** Whether a file is as the index left it, so that nothing more need be known of it. Most files are, at every call. */
function isAsMarked(
  { format, wanted }: Omit<IndexRun, "context">,
  { path }: FoundFile,
  mark: string,
  outside: ReadonlyMap<string, string | null> | undefined,
): boolean {
  if (mark === "") return false;
  const now = format.stat(path);
  if (now === undefined || markOf(now) !== mark) return false;
  const directory = outside?.get(path);
  return directory === undefined || !wanted(directory);
}

function markOf({ dev, ino, size, mtimeNs }: FileStat): string {
  return `${dev} ${ino} ${size} ${mtimeNs}`;
}

/**
 * What tells that each file of a store is unchanged; empty for one that was not read to its end. As one text: rows of
 * objects for thousands of files take longer than the looks at the files themselves.
 */
function fileMarks(db: Database, store: string): Map<string, string> {
  const { marks } = db.get<{ marks: string | null }>(
    `SELECT group_concat(path || char(0) || iif(complete = 0, '', dev || ' ' || ino || ' ' || size || ' ' || mtime_ns), char(0)) AS marks
     FROM files WHERE store = ?`,
    [store],
  ) ?? { marks: null };
  const known = new Map<string, string>();
  const fields = marks === null ? [] : marks.split("\0");
  for (let at = 0; at + 1 < fields.length; at += 2) known.set(fields[at] ?? "", fields[at + 1] ?? "");
  return known;
}

/** Where the files belong whose heads alone were read. */
function headsOf(db: Database, store: string): ReadonlyMap<string, string | null> {
  const heads = db.all<{ path: string; directory: string | null }>(
    `SELECT f.path, ${directoryOf} AS directory FROM files f WHERE f.store = ? AND f.scope = 'head'`,
    [store],
  );
  return new Map(heads.map(({ path, directory }) => [path, directory]));
}

async function writeHeads({ db, heads, signal }: Pick<IndexRun, "db" | "heads" | "signal">): Promise<void> {
  const waiting = heads.splice(0);
  if (waiting.length > 0) await db.write(() => waiting.forEach((write) => void write()), { signal });
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
  await writeHeads(run);
  await nameSessions(run);
  return true;
}

/**
 * Reads the sessions of a page as a whole, as far as the time reaches.
 *
 * @returns files that could not be read, each with its cause
 */
export async function refreshSessions(
  run: Omit<IndexRun, "context">,
  sessions: readonly SessionRow[],
): Promise<IndexProgress["unreadable"]> {
  const unreadable: { path: string; cause: string }[] = [];
  for (const { id, path } of sessions) {
    if (run.clock.now() > run.deadline && run.progress.batches > 0) break;
    try {
      await refreshSession(run, id);
    } catch (error) {
      if (run.signal.aborted || error instanceof ToolError) throw error;
      unreadable.push({ path, cause: error instanceof Error ? error.message : String(error) });
    }
  }
  return unreadable;
}

const directoryOf = "(SELECT s.directory FROM sessions s WHERE s.file = f.id AND s.id = f.session AND s.live = 1)";

const knownFiles = `
SELECT f.id, f.path, f.session, f.parent, f.archived, f.scope, f.dev, f.ino, f.size, f.mtime_ns AS mtimeNs, f.offset, f.line, f.head_hash AS headHash, f.tail_hash AS tailHash,
  f.packed, f.state, f.building, f.complete, f.lease_until AS leaseUntil, f.lease_by AS leaseBy,
  ${directoryOf} AS directory
FROM files f WHERE f.store = ?`;

/** @returns bytes that are still to be read */
async function refreshFile(run: IndexRun, found: FoundFile, known: FileRecord | undefined): Promise<number> {
  const { db, clock, signal } = run;
  const now = run.format.stat(found.path);
  if (now === undefined) {
    if (known !== undefined) await db.write(() => dropFile(db, known.id), { signal });
    return 0;
  }
  const change = known === undefined ? "replaced" : freshness(found.path, { ...known, packed: found.packed }, now);
  const widen = known?.scope === "head" && run.wanted(known.directory);
  if (change === "unchanged" && known?.complete === 1 && !widen) return 0;
  if (known?.scope === "head" && change === "grown" && !widen) {
    await db.write(() => touchHead(db, known.id, now, lastTimeOf(found, now)), { signal });
    return 0;
  }
  const fromStart = widen || (change === "replaced" && !(known?.building === 1 && known.mtimeNs === now.mtimeNs));
  const left = now.size - (fromStart || found.packed ? 0 : (known?.offset ?? 0));
  if (clock.now() > run.deadline && run.progress.batches > 0) return left;
  if (known !== undefined && (await isHeld(known, clock.now()))) return left;
  const file = startOf(found, run.format.source, known, fromStart);
  const done = await indexFile(run, found, file, { stat: now, known, fromStart });
  return done ? 0 : Math.max(1, now.size - file.offset);
}

/** Where the reading of a file begins: at its start, or where the index stands. */
function startOf(found: FoundFile, store: string, known: FileRecord | undefined, fromStart: boolean): IndexedFile {
  const { path, parent, archived, packed } = found;
  const file = { store, path, parent, archived, packed, id: known?.id ?? 0 };
  if (known === undefined) return { ...file, session: found.session, offset: 0, line: 0, state: "", building: 0 };
  if (!fromStart) {
    const { session, offset, line, state, building } = known;
    return { ...file, session, offset, line, state, building };
  }
  // Of a file whose head alone was read nothing is shown that would be missed meanwhile.
  return { ...file, session: found.session, offset: 0, line: 0, state: "", building: known.scope === "head" ? 0 : 1 };
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
