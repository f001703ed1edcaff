import type { Clock } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Fact, Place } from "../facts.ts";
import { type JsonRecord, parseLine } from "../json-line.ts";
import { type LineSource, readLines } from "../lines.ts";
import type { ProblemCode } from "../model.ts";
import { claimFile, holdsFile, leaseFrom, type ReadFrom } from "./claim.ts";
import { FactWriter, type FileRow } from "./fact-writer.ts";
import { type FileStat, hashesAt, lastTimeOf, mtimeOf } from "./file-state.ts";
import type { FileContext, FoundFile, TranscriptFormat } from "./format.ts";
import { goLive, touchHead } from "./rows.ts";
import { settleSession } from "./settle.ts";

const batchBytes = 8 * 1024 * 1024;
const batchRecords = 2_000;

export interface IndexedFile extends FileRow {
  packed: boolean;
  /** 1 while a replaced file is read again and its old sessions are still the ones shown. */
  building: number;
  offset: number;
  line: number;
  state: string;
}

export interface IndexRun {
  db: Database;
  format: TranscriptFormat;
  context: FileContext;
  maxLineBytes: number;
  signal: AbortSignal;
  clock: Clock;
  /** Who reads: see `newOwner`. */
  owner: string;
  /** Writes that wait for company: heads of files, which are many and small. */
  heads: (() => void)[];
  /** Time after which no further batch is begun, in ms of the clock; the first one always is, so that every call gets on. */
  deadline: number;
  progress: { batches: number };
  /** Whether any session is indexed as a whole; without, heads do. */
  looksInside: boolean;
  /** Whether a session of this directory is indexed as a whole; of others only the head is read. */
  wanted(directory: string | null): boolean;
}

interface Batch {
  facts: { facts: readonly Fact[]; place: Place; record: number; oversize: boolean }[];
  problems: { code: ProblemCode; place: Place }[];
  bytes: number;
  end: number;
  line: number;
  /** An unfinished last line: read when it is whole. */
  tail: Place | undefined;
}

/** What the caller found out about the file. */
export interface Reading {
  stat: FileStat;
  known: ReadFrom | undefined;
  fromStart: boolean;
}

/**
 * Reads a file on from where the index stands, batch by batch, each one write of rows and place together: killed anywhere,
 * the next run goes on from the last batch.
 *
 * @returns whether the end was reached, or the file belongs to another project; false also when another process took it
 */
export async function indexFile(
  run: IndexRun,
  found: FoundFile,
  file: IndexedFile,
  reading: Reading,
): Promise<boolean> {
  const { format, signal } = run;
  const interpreter = await format.interpreter(
    found,
    run.context,
    file.state === "" ? undefined : JSON.parse(file.state),
  );
  const source: LineSource = found.packed ? format.unpacked(file.path) : file.path;
  let batch = emptyBatch(file.offset, file.line);
  let claimed = false;
  // A file that is read on was wanted when it was begun.
  let settled = file.offset > 0;
  const commit = async (scope: "head" | "full", then: "end" | "pause" | "more"): Promise<boolean> => {
    const written = await commitBatch(run, file, reading, batch, { state: interpreter.state(), scope, then, claimed });
    claimed = true;
    return written;
  };
  for await (const line of readLines(source, file.offset, { maxLineBytes: run.maxLineBytes, signal })) {
    const place = { file: file.path, line: batch.line + 1, offset: line.offset, length: line.length };
    const { records, problems } = readRecords(line.bytes, format);
    // What follows the last newline may still be written.
    if (!line.terminated && (records.length === 0 || problems.length > 0)) {
      batch.tail = place;
      break;
    }
    batch.line += 1;
    batch.end = line.next;
    batch.bytes += line.bytes.length;
    if (line.oversize) batch.problems.push({ code: "oversize_line", place });
    for (const code of problems) batch.problems.push({ code, place });
    let directory: string | undefined;
    for (const [record, value] of records.entries()) {
      const facts = interpreter.record(value, place);
      batch.facts.push({ facts, place, record, oversize: line.oversize });
      directory ??= directoryIn(facts);
    }
    if (!settled && directory !== undefined) {
      settled = true;
      if (!run.wanted(directory)) return commit("head", "end");
    }
    if (batch.bytes >= batchBytes || batch.facts.length >= batchRecords) {
      const over = run.clock.now() > run.deadline;
      if (!(await commit("full", over ? "pause" : "more")) || over) return false;
      batch = emptyBatch(batch.end, batch.line);
    }
  }
  return commit("full", "end");
}

function readRecords(
  bytes: Uint8Array,
  format: TranscriptFormat,
): { records: readonly JsonRecord[]; problems: readonly ProblemCode[] } {
  return parseLine(bytes, (value) => format.isRecord(value));
}

function emptyBatch(end: number, line: number): Batch {
  return { facts: [], problems: [], bytes: 0, end, line, tail: undefined };
}

function directoryIn(facts: readonly Fact[]): string | undefined {
  for (const fact of facts) if (fact.kind === "session" && fact.directory !== undefined) return fact.directory;
  return undefined;
}

/** @returns false when the file is another process's now: nothing was written */
async function commitBatch(
  run: IndexRun,
  file: IndexedFile,
  { stat, known, fromStart }: Reading,
  batch: Batch,
  step: { state: unknown; scope: "head" | "full"; then: "end" | "pause" | "more"; claimed: boolean },
): Promise<boolean> {
  const { db, owner } = run;
  const { state, scope, then, claimed } = step;
  run.progress.batches += 1;
  const updated = scope === "head" ? lastTimeOf(file, stat) : undefined;
  const hashes = file.packed ? { head: "", tail: "" } : hashesAt(file.path, batch.end);
  const now = run.clock.now();
  const write = () => {
    const mine = claimed ? holdsFile(db, file, owner) : claimFile(db, file, known, fromStart, { owner, now });
    if (!mine) return false;
    const writer = new FactWriter(db, file, { live: file.building === 0, searched: scope === "full" });
    for (const { code, place } of batch.problems) writer.problem(code, place);
    for (const { facts, place, record, oversize } of batch.facts) writer.record(facts, place, record, oversize);
    writer.settleTail(batch.tail);
    const dirty = db.all<{ row: number }>("SELECT row FROM sessions WHERE file = ? AND dirty = 1", [file.id]);
    for (const { row } of dirty) settleSession(db, row, { path: file.path, mtime: mtimeOf(stat) });
    if (updated !== undefined) touchHead(db, file.id, stat, updated);
    file.session = writer.session;
    db.run(
      `UPDATE files SET session = ?, scope = ?, offset = ?, line = ?, head_hash = ?, tail_hash = ?, state = ?, bookkeeping = bookkeeping + ?,
           dev = ?, ino = ?, size = ?, mtime_ns = ?, complete = ?, lease_until = ?, lease_by = ?, error = NULL WHERE id = ?`,
      [
        file.session,
        scope,
        batch.end,
        batch.line,
        hashes.head,
        hashes.tail,
        JSON.stringify(state),
        writer.bookkeeping,
        stat.dev,
        stat.ino,
        stat.size,
        stat.mtimeNs,
        then === "end" ? 1 : 0,
        then === "more" ? leaseFrom(now) : 0,
        then === "more" ? owner : null,
        file.id,
      ],
    );
    if (then === "end" && file.building === 1) goLive(db, file.id);
    return true;
  };
  if (scope === "head" && !claimed) {
    run.heads.push(write);
    return true;
  }
  const written = await db.write(write, { signal: run.signal });
  file.offset = batch.end;
  file.line = batch.line;
  file.state = JSON.stringify(state);
  return written;
}
