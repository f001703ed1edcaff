import { type Clock, createId } from "@toolhaft/core";
import { isRunning, type ProcessIdentity } from "@toolhaft/process";
import type { Database } from "@toolhaft/sqlite";
import type { IndexedFile } from "./index-file.ts";
import { dropSessions } from "./rows.ts";

const leaseMs = 30_000;

/** Who reads a file on at the moment. */
export interface Lease {
  /** Milliseconds of the clock; 0: nobody. */
  leaseUntil: number;
  leaseBy: string | null;
}

/** What the index held of a file when this reading of it began. */
export type ReadFrom = { id: number; offset: number; building: number; leaseBy: string | null };

/** Names one refresh of one process, so that others can tell whether it still runs. */
export function newOwner(self: ProcessIdentity | undefined, clock: Clock): string {
  return JSON.stringify({ ...self, pid: process.pid, run: createId(clock.now()) });
}

/** Whether another process that still runs is reading the file. */
export async function isHeld({ leaseUntil, leaseBy }: Lease, now: number): Promise<boolean> {
  if (leaseBy === null || leaseUntil <= now) return false;
  const { pid, start }: { pid: number; start?: string } = JSON.parse(leaseBy);
  return pid !== process.pid && (start === undefined || isRunning({ pid, start }));
}

/**
 * Takes a file with the first batch that is written of it. False when another process got on with it since `known` was
 * read: two may read the same lines, one of them writes.
 */
export function claimFile(
  db: Database,
  file: IndexedFile,
  known: ReadFrom | undefined,
  fromStart: boolean,
  { owner, now }: { owner: string; now: number },
): boolean {
  const current = db.get<ReadFrom & Lease>(
    "SELECT id, offset, building, lease_until AS leaseUntil, lease_by AS leaseBy FROM files WHERE path = ?",
    [file.path],
  );
  if (current === undefined) {
    if (known !== undefined) return false;
    file.id = newFile(db, file);
    return true;
  }
  if (known === undefined || current.id !== known.id) return false;
  if (current.offset !== known.offset || current.building !== known.building) return false;
  const taken = current.leaseUntil > now && current.leaseBy !== known.leaseBy && current.leaseBy !== owner;
  if (taken) return false;
  if (fromStart) {
    dropSessions(db, file.id, 0);
    if (file.building === 0) dropSessions(db, file.id, 1);
    db.run("UPDATE files SET bookkeeping = 0, building = ? WHERE id = ?", [file.building, file.id]);
  }
  return true;
}

/** Whether the file is still this owner's and stands where its last batch ended. */
export function holdsFile(db: Database, file: IndexedFile, owner: string): boolean {
  const current = db.get<{ offset: number; lease_by: string | null }>(
    "SELECT offset, lease_by FROM files WHERE id = ?",
    [file.id],
  );
  return current?.lease_by === owner && current.offset === file.offset;
}

/** Until when a reader that has more to read keeps the file. */
export function leaseFrom(now: number): number {
  return now + leaseMs;
}

function newFile(db: Database, { store, path, session, parent, archived, packed }: IndexedFile): number {
  const { lastInsertRowid } = db.run(
    `INSERT INTO files(store, path, session, parent, archived, packed, scope, dev, ino, size, mtime_ns, offset, line, head_hash, tail_hash, state, bookkeeping, building, complete, lease_until, lease_by)
     VALUES (?, ?, ?, ?, ?, ?, 'full', '', '', 0, '', 0, 0, '', '', '', 0, 0, 0, 0, NULL)`,
    [store, path, session, parent, archived ? 1 : 0, packed ? 1 : 0],
  );
  return Number(lastInsertRowid);
}
