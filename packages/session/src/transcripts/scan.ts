import type { Database } from "@toolhaft/sqlite";
import { chunkBytes, chunksOf } from "../lines.ts";
import type { Matcher } from "../search-text.ts";
import type { SearchedPart, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import { type ByteNeedle, byteNeedle } from "./byte-needle.ts";
import type { TranscriptFormat } from "./format.ts";
import { candidateKey } from "./rank.ts";
import { hitFrom, messageAt, partTexts, type SearchOptions, scopeOf } from "./searched.ts";

interface ScannedFile {
  id: number;
  path: string;
  packed: number;
  size: number;
}

/** Where a scan goes on: a file, and how many of its hits were shown. */
export interface ScanPlace {
  file: number;
  hit: number;
}

interface Found {
  row: number;
  session: number;
  idx: number;
  sessionId: string;
  title: string;
}

/**
 * Looks through the bytes of transcripts, newest files first, for what the index does not hold: outputs of tools, and
 * literals without a word. Stops when the page is full or the time is over, and says where to go on.
 */
export async function scanFiles(
  db: Database,
  format: TranscriptFormat,
  query: SearchQuery,
  matcher: Matcher,
  { from, limit, shown }: { from: ScanPlace; limit: number; shown: ReadonlySet<string> },
  options: SearchOptions,
): Promise<{
  hits: { hit: Omit<SearchHit, "after">; next: ScanPlace }[];
  next: ScanPlace | null;
  progress: NonNullable<SearchPage["scan"]>;
}> {
  const files = filesOf(db, format.source, query);
  const needle = needleOf(query, matcher);
  const parts: readonly SearchedPart[] =
    query.match === "words" && matcher.terms.length > 0 ? ["tool_output"] : query.parts;
  const deadline = options.clock.now() + query.scanMs;
  const hits: { hit: Omit<SearchHit, "after">; next: ScanPlace }[] = [];
  let next: ScanPlace | null = null;
  let at = from.file;
  for (; at < files.length; at += 1) {
    const file = files[at];
    if (file === undefined) break;
    if (hits.length >= limit || options.clock.now() > deadline) {
      next = { file: at, hit: 0 };
      break;
    }
    const skip = at === from.file ? from.hit : 0;
    const messages =
      needle === undefined
        ? []
        : await matchingMessages(db, format, file, needle, scopeOf(format.source, query), options);
    const found = await hitsIn(db, format, messages, { parts, matcher, shown }, options);
    const rest = found.slice(skip);
    const taken = rest.slice(0, limit - hits.length);
    for (const [place, hit] of taken.entries()) hits.push({ hit, next: { file: at, hit: skip + place + 1 } });
    if (taken.length < rest.length) {
      next = { file: at, hit: skip + taken.length };
      break;
    }
  }
  const left = files.slice(next?.file ?? files.length);
  return {
    hits,
    next,
    progress: {
      files: files.length - left.length,
      filesLeft: left.length,
      bytesLeft: left.reduce((sum, { size }) => sum + size, 0),
    },
  };
}

function filesOf(db: Database, store: string, query: SearchQuery): ScannedFile[] {
  const scope = scopeOf(store, query);
  return db.all<ScannedFile>(
    `SELECT DISTINCT f.id, f.path, f.packed, f.size FROM files f JOIN sessions s ON s.file = f.id
       JOIN (SELECT row AS message, session FROM messages) p ON p.session = s.row
     WHERE ${scope.sql} ORDER BY f.mtime_ns DESC, f.path`,
    scope.parameters,
  );
}

/** The longest word of a query; undefined when there is nothing to look for. */
function needleOf(query: SearchQuery, matcher: Matcher): ByteNeedle | undefined {
  const words = matcher.exact.length > 0 ? matcher.exact : query.query.split(/\s+/).filter((word) => word !== "");
  // In JSON within JSON a quote is escaped twice: what needs no escape stands the same in both.
  const plain = words.flatMap((word) => word.split(/["\\\p{Cc}]+/u)).filter((run) => run.trim() !== "");
  const [longest] = (plain.length > 0 ? plain : [...words]).sort((a, b) => b.length - a.length);
  return longest === undefined ? undefined : byteNeedle(longest, !query.caseSensitive);
}

async function matchingMessages(
  db: Database,
  format: TranscriptFormat,
  file: ScannedFile,
  needle: ByteNeedle,
  scope: { sql: string; parameters: (string | number | bigint | Uint8Array | null)[] },
  options: SearchOptions,
): Promise<Found[]> {
  const found = new Map<number, Found>();
  for await (const offset of offsetsIn(format, file, needle, options.signal)) {
    const rows = db.all<Found>(
      `SELECT DISTINCT p.row, p.session, p.idx, s.id AS sessionId, s.title
       FROM lines l JOIN (SELECT row, row AS message, session, idx FROM messages) p ON p.message = l.message JOIN sessions s ON s.row = p.session
       WHERE l.file = ? AND l.offset = (SELECT max(offset) FROM lines WHERE file = ? AND offset <= ?) AND l.offset + l.length >= ? AND ${scope.sql}`,
      [file.id, file.id, offset, offset, ...scope.parameters],
    );
    for (const row of rows) found.set(row.row, row);
  }
  return [...found.values()].sort((a, b) => b.idx - a.idx);
}

/** Byte offsets of matches, one in a line: the line is read as a whole. Chunks overlap, so that a match across their border is seen. */
async function* offsetsIn(
  format: TranscriptFormat,
  file: ScannedFile,
  needle: ByteNeedle,
  signal: AbortSignal,
): AsyncIterable<number> {
  const source = file.packed === 1 ? format.unpacked(file.path) : file.path;
  let window = Buffer.alloc(0);
  let kept = 0;
  let position = 0;
  for await (const chunk of chunksOf(source, 0, signal)) {
    if (window.length < kept + chunk.length) {
      const larger = Buffer.allocUnsafeSlow(needle.length + Math.max(chunk.length, chunkBytes));
      window.copy(larger, 0, 0, kept);
      window = larger;
    }
    window.set(chunk, kept);
    const bytes = window.subarray(0, kept + chunk.length);
    const find = needle.within(bytes);
    for (let at = find(0); at !== -1; ) {
      yield position - kept + at;
      const lineEnd = bytes.indexOf(0x0a, at);
      at = lineEnd === -1 ? -1 : find(lineEnd + 1);
    }
    position += chunk.length;
    kept = Math.min(needle.length - 1, bytes.length);
    window.copyWithin(0, bytes.length - kept, bytes.length);
  }
}

async function hitsIn(
  db: Database,
  format: TranscriptFormat,
  messages: readonly Found[],
  { parts, matcher, shown }: { parts: readonly SearchedPart[]; matcher: Matcher; shown: ReadonlySet<string> },
  options: SearchOptions,
): Promise<Omit<SearchHit, "after">[]> {
  const hits: Omit<SearchHit, "after">[] = [];
  for (const found of messages) {
    options.signal.throwIfAborted();
    const message = await messageAt(db, format, found.session, found.idx, options);
    if (message === undefined) continue;
    for (const part of parts) {
      if (part !== "tool_output" && shown.has(candidateKey({ message: found.row, part }))) continue;
      const fitting = partTexts(message, part).filter(
        ({ text }) => matcher.fits(text) && matcher.marks(text, 1).length > 0,
      );
      const { sessionId, title } = found;
      const hit = hitFrom(message, part, fitting, matcher, { sessionId, title, allTerms: true, score: 0 });
      if (hit !== undefined) hits.push(hit);
    }
  }
  return hits;
}
