import type { Clock } from "@toolhaft/core";
import type { Database } from "@toolhaft/sqlite";
import type { Fact, Place } from "../facts.ts";
import { type JsonRecord, parseLine } from "../json-line.ts";
import { type LineSource, readLines } from "../lines.ts";
import type { ProblemCode } from "../model.ts";
import { FactWriter, type FileRow } from "./fact-writer.ts";
import { type FileStat, hashesAt } from "./file-state.ts";
import type { FileContext, FoundFile, TranscriptFormat } from "./format.ts";
import { goLive } from "./rows.ts";
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
  /** Time after which no further batch is begun, in ms of the clock; the first one always is, so that every call gets on. */
  deadline: number;
  progress: { batches: number };
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

/**
 * Reads a file on from where the index stands, batch by batch, each one write of rows and place together: killed anywhere,
 * the next run goes on from the last batch.
 *
 * @returns whether the end was reached, or the file belongs to another project
 */
export async function indexFile(run: IndexRun, found: FoundFile, file: IndexedFile, stat: FileStat): Promise<boolean> {
  const { db, format, signal } = run;
  const interpreter = await format.interpreter(
    found,
    run.context,
    file.state === "" ? undefined : JSON.parse(file.state),
  );
  const source: LineSource = found.packed ? format.unpacked(file.path) : file.path;
  let batch = emptyBatch(file.offset, file.line);
  let directory: string | null | undefined = file.offset === 0 ? undefined : null;
  const commit = (scope: "head" | "full") => commitBatch(run, file, stat, batch, interpreter.state(), scope);
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
    for (const [record, value] of records.entries()) {
      const facts = interpreter.record(value, place);
      batch.facts.push({ facts, place, record, oversize: line.oversize });
      directory ??= directoryIn(facts);
    }
    if (typeof directory === "string" && !run.wanted(directory)) {
      await commit("head");
      return true;
    }
    if (batch.bytes >= batchBytes || batch.facts.length >= batchRecords) {
      await commit("full");
      batch = emptyBatch(batch.end, batch.line);
      if (run.clock.now() > run.deadline) return false;
    }
  }
  await commit("full");
  if (file.building === 1) await db.write(() => goLive(db, file.id), { signal });
  return true;
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

async function commitBatch(
  run: IndexRun,
  file: IndexedFile,
  stat: FileStat,
  batch: Batch,
  state: unknown,
  scope: "head" | "full",
): Promise<void> {
  const { db } = run;
  run.progress.batches += 1;
  const hashes = file.packed ? { head: "", tail: "" } : await hashesAt(file.path, batch.end);
  await db.write(
    () => {
      const writer = new FactWriter(db, file, file.building === 0);
      for (const { code, place } of batch.problems) writer.problem(code, place);
      for (const { facts, place, record, oversize } of batch.facts) writer.record(facts, place, record, oversize);
      writer.settleTail(batch.tail);
      for (const { row } of db.all<{ row: number }>("SELECT row FROM sessions WHERE file = ? AND dirty = 1", [
        file.id,
      ])) {
        settleSession(db, row, {
          path: file.path,
          mtime: new Date(Number(BigInt(stat.mtimeNs) / 1_000_000n)).toISOString(),
        });
      }
      file.session = writer.session;
      db.run(
        `UPDATE files SET session = ?, scope = ?, offset = ?, line = ?, head_hash = ?, tail_hash = ?, state = ?, bookkeeping = bookkeeping + ?,
           dev = ?, ino = ?, size = ?, mtime_ns = ?, lease_until = ?, error = NULL WHERE id = ?`,
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
          run.clock.now() + 30_000,
          file.id,
        ],
      );
    },
    { signal: run.signal },
  );
  file.offset = batch.end;
  file.line = batch.line;
  file.state = JSON.stringify(state);
}
