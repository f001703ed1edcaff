import { open } from "node:fs/promises";
import type { Database } from "@toolhaft/sqlite";
import { excerptAround, type Matcher } from "../search-text.ts";
import type { SearchedPart, SearchHit, SearchPage, SearchQuery } from "../store.ts";
import type { TranscriptFormat } from "./format.ts";
import { messageAt, partTexts, type SearchOptions, scopeOf } from "./searched.ts";

const chunkBytes = 4 * 1024 * 1024;

interface ScannedFile {
  id: number;
  path: string;
  packed: number;
  size: number;
}

interface Found {
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
  from: { file: number; hit: number },
  limit: number,
  options: SearchOptions,
): Promise<{
  hits: { hit: Omit<SearchHit, "after">; next: { file: number; hit: number } }[];
  next: { file: number; hit: number } | null;
  progress: NonNullable<SearchPage["scan"]>;
}> {
  const files = filesOf(db, format.source, query);
  const pattern = patternOf(query, matcher);
  const parts: readonly SearchedPart[] =
    query.parts.includes("tool_output") && matcher.terms.length > 0 ? ["tool_output"] : query.parts;
  const deadline = options.clock.now() + query.scanMs;
  const hits: { hit: Omit<SearchHit, "after">; next: { file: number; hit: number } }[] = [];
  let next: { file: number; hit: number } | null = null;
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
      pattern === undefined
        ? []
        : await matchingMessages(db, format, file, pattern, scopeOf(format.source, query), options);
    const found = await hitsIn(db, format, messages, parts, matcher, options);
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
    `SELECT DISTINCT f.id, f.path, f.packed, f.size FROM files f JOIN sessions s ON s.file = f.id JOIN messages m ON m.session = s.row
     WHERE ${scope.sql} ORDER BY f.mtime_ns DESC, f.path`,
    scope.parameters,
  );
}

/** The needle as it stands inside JSON strings; undefined when there is nothing to look for. */
function patternOf(query: SearchQuery, matcher: Matcher): RegExp | undefined {
  const needles = matcher.exact.length > 0 ? matcher.exact : query.query.split(/\s+/).filter((word) => word !== "");
  const [longest] = [...needles].sort((a, b) => b.length - a.length);
  if (longest === undefined) return undefined;
  const escaped = JSON.stringify(longest).slice(1, -1);
  return new RegExp(utf8Pattern(escaped, !query.caseSensitive), query.caseSensitive ? "g" : "gi");
}

/** Bytes are matched as Latin-1: letters beyond ASCII become their UTF-8 bytes, in both cases, or their `\u` escape. */
function utf8Pattern(text: string, bothCases: boolean): string {
  return [...text]
    .map((character) => {
      if (character.charCodeAt(0) < 0x80) return character.replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
      const forms = bothCases
        ? new Set([character, character.toLowerCase(), character.toUpperCase()])
        : new Set([character]);
      const choices = [...forms].flatMap((form) => [bytesPattern(form), escapePattern(form)]);
      return `(?:${[...new Set(choices)].join("|")})`;
    })
    .join("");
}

function bytesPattern(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => `\\x${byte.toString(16).padStart(2, "0")}`).join("");
}

function escapePattern(text: string): string {
  return Array.from(
    { length: text.length },
    (_, at) => `\\\\u${text.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
}

async function matchingMessages(
  db: Database,
  format: TranscriptFormat,
  file: ScannedFile,
  pattern: RegExp,
  scope: { sql: string; parameters: (string | number | bigint | Uint8Array | null)[] },
  options: SearchOptions,
): Promise<Found[]> {
  const found = new Map<number, Found>();
  for await (const offset of offsetsIn(format, file, pattern, options.signal)) {
    const rows = db.all<Found & { row: number }>(
      `SELECT DISTINCT m.row, m.session, m.idx, s.id AS sessionId, s.title FROM lines l JOIN messages m ON m.row = l.message JOIN sessions s ON s.row = m.session
       WHERE l.file = ? AND l.offset = (SELECT max(offset) FROM lines WHERE file = ? AND offset <= ?) AND l.offset + l.length >= ? AND ${scope.sql}`,
      [file.id, file.id, offset, offset, ...scope.parameters],
    );
    for (const row of rows) found.set(row.row, row);
  }
  return [...found.values()].sort((a, b) => b.idx - a.idx);
}

/** Byte offsets of matches; chunks overlap so that a match across their border is seen. */
async function* offsetsIn(
  format: TranscriptFormat,
  file: ScannedFile,
  pattern: RegExp,
  signal: AbortSignal,
): AsyncIterable<number> {
  const overlap = pattern.source.length;
  let tail = Buffer.alloc(0);
  let position = 0;
  for await (const chunk of chunksOf(format, file, signal)) {
    const bytes = Buffer.concat([tail, chunk]);
    const start = position - tail.length;
    const text = bytes.toString("latin1");
    pattern.lastIndex = 0;
    for (let match = pattern.exec(text); match !== null; match = pattern.exec(text)) {
      yield start + match.index;
      // One match per line is enough: the line is read as a whole.
      const lineEnd = bytes.indexOf(0x0a, match.index);
      if (lineEnd === -1) break;
      pattern.lastIndex = lineEnd + 1;
    }
    position += chunk.length;
    tail = Buffer.from(bytes.subarray(Math.max(0, bytes.length - overlap)));
  }
}

async function* chunksOf(format: TranscriptFormat, file: ScannedFile, signal: AbortSignal): AsyncIterable<Uint8Array> {
  if (file.packed === 1) {
    const source = format.unpacked(file.path);
    if (typeof source !== "string") yield* source.chunks(0, signal);
    return;
  }
  const handle = await open(file.path, "r");
  const buffer = Buffer.allocUnsafeSlow(chunkBytes);
  try {
    for (let position = 0; ; ) {
      signal.throwIfAborted();
      const { bytesRead } = await handle.read(buffer, 0, chunkBytes, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await handle.close();
  }
}

async function hitsIn(
  db: Database,
  format: TranscriptFormat,
  messages: readonly Found[],
  parts: readonly SearchedPart[],
  matcher: Matcher,
  options: SearchOptions,
): Promise<Omit<SearchHit, "after">[]> {
  const hits: Omit<SearchHit, "after">[] = [];
  for (const found of messages) {
    options.signal.throwIfAborted();
    const message = await messageAt(db, format, found.session, found.idx, options);
    if (message === undefined) continue;
    for (const part of parts) {
      const fitting = partTexts(message, part).filter(
        ({ text }) => matcher.fits(text) && matcher.marks(text, 1).length > 0,
      );
      const [first] = fitting;
      if (first === undefined) continue;
      hits.push({
        sessionId: found.sessionId,
        title: found.title,
        messageId: message.id,
        index: message.index,
        role: message.role,
        at: message.at,
        part,
        tool: first.tool,
        ...excerptAround(first.text, matcher.marks(first.text, 20)),
        allTerms: true,
        more: fitting.length - 1,
        score: 0,
      });
    }
  }
  return hits;
}
