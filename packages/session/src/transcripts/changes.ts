import type { Database } from "@toolhaft/sqlite";
import type { Fact, RecordedChange } from "../facts.ts";
import { applyHunks, parseUnified } from "../hunks.ts";
import { parseLine } from "../json-line.ts";
import type { Changes, RecordedFileChange } from "../store.ts";
import type { FileContext, TranscriptFormat } from "./format.ts";
import { idOf, OpenFiles } from "./read-messages.ts";

interface ChangeRow {
  n: number;
  message: number | null;
  key: string | null;
  idx: number | null;
  call_id: string | null;
  path: string;
  from_path: string | null;
  kind: RecordedChange["kind"];
  file: string;
  packed: number;
  offset: number;
  length: number;
}

/** File changes of a session up to and including a message, with the texts its lines hold. */
export async function changesOf(
  db: Database,
  format: TranscriptFormat,
  session: number,
  upTo: string | undefined,
  options: { maxLineBytes: number; signal: AbortSignal },
): Promise<Changes> {
  const last =
    upTo === undefined
      ? undefined
      : db.get<{ seq: number; key: string; idx: number }>(
          "SELECT seq, key, idx FROM messages WHERE session = ? AND (key = ? OR '#' || idx = ?)",
          [session, upTo, upTo],
        );
  const rows = db.all<ChangeRow>(
    `SELECT c.n, c.message, m.key, m.idx, c.call_id, c.path, c.from_path, c.kind, f.path AS file, f.packed, c.offset, c.length
     FROM changes c JOIN files f ON f.id = c.file LEFT JOIN messages m ON m.row = c.message
     WHERE c.session = ? AND (m.branch IS NULL OR m.branch = 'main') AND (? IS NULL OR coalesce(m.seq, 0) <= ?) ORDER BY c.n`,
    [session, last?.seq ?? null, last?.seq ?? null],
  );
  const files = new OpenFiles(format, { ...options, recent: false });
  const found: PlacedChange[] = [];
  try {
    for (const row of rows) {
      const change = (await changeAt(format, row, files)) ?? (await changeOfCall(db, format, row, files));
      if (change !== undefined) found.push({ row, change });
    }
  } finally {
    await files.close();
  }
  const changes = (await completed(db, format, session, found, options)).map(({ row, change }) =>
    recorded(row, change),
  );
  const commands = db.get<{ n: number }>(
    "SELECT count(*) AS n FROM calls WHERE session = ? AND name IN ('Bash', 'shell', 'exec_command', 'local_shell', 'shell_command')",
    [session],
  );
  const notes = (commands?.n ?? 0) > 0 ? ["Files changed by shell commands are not recorded in this transcript."] : [];
  const own: Changes = {
    basis: changes.some(({ after }) => after !== undefined) ? "snapshots" : "patches",
    changes,
    notes,
  };
  const place = db.get<{ path: string }>(
    "SELECT f.path FROM sessions s JOIN files f ON f.id = s.file WHERE s.row = ?",
    [session],
  );
  const message = last === undefined ? undefined : idOf(last);
  const kept = place === undefined ? undefined : await format.keptChanges?.(place.path, message, own, options.signal);
  return kept ?? own;
}

interface PlacedChange {
  row: ChangeRow;
  change: RecordedChange;
}

/** Texts that a line leaves out are taken from the states that the host keeps, and from the change before. */
async function completed(
  db: Database,
  format: TranscriptFormat,
  session: number,
  found: readonly PlacedChange[],
  options: { maxLineBytes: number; signal: AbortSignal },
): Promise<readonly PlacedChange[]> {
  const lacking = found.some(({ change }) => change.before === undefined || change.after === undefined);
  const place = db.get<{ id: string; path: string }>(
    "SELECT s.id, f.path FROM sessions s JOIN files f ON f.id = s.file WHERE s.row = ?",
    [session],
  );
  if (!lacking || format.backups === undefined || place === undefined) return found;
  const backups = await format.backups(place.path, place.id, options);
  const reached = new Map<string, string | null>();
  const whole: PlacedChange[] = [];
  for (const [n, { row, change }] of found.entries()) {
    const { path } = change;
    const before =
      change.before !== undefined
        ? change.before
        : reached.has(path)
          ? reached.get(path)
          : await backups.before(path, row.offset);
    const patched =
      change.patch === null || typeof before !== "string" ? undefined : applyHunks(before, parseUnified(change.patch));
    const next = found.slice(n + 1).find((later) => later.change.path === path);
    const after = change.after ?? patched ?? (await backups.between(path, row.offset, next?.row.offset));
    if (after === undefined) reached.delete(path);
    else reached.set(path, after);
    const kind = before === null && after !== null && change.kind === "modify" ? "create" : change.kind;
    whole.push({ row, change: { ...change, before, after: change.after === null ? null : after, kind } });
  }
  return whole;
}

/** The line is interpreted again for its change; the rest of the session is not needed for that. */
async function changeAt(
  format: TranscriptFormat,
  row: ChangeRow,
  files: OpenFiles,
): Promise<RecordedChange | undefined> {
  return changeIn(format, row, [row], files);
}

/** What a call asked for stands in its own line, and a later one only says that it was done: all of the message is read. */
async function changeOfCall(
  db: Database,
  format: TranscriptFormat,
  row: ChangeRow,
  files: OpenFiles,
): Promise<RecordedChange | undefined> {
  if (row.message === null) return undefined;
  const lines = db.all<{ offset: number; length: number }>(
    `SELECT DISTINCT l.offset, l.length FROM lines l JOIN files f ON f.id = l.file
     WHERE l.message = ? AND f.path = ? AND l.oversize = 0 ORDER BY l.offset`,
    [row.message, row.file],
  );
  return changeIn(format, row, lines, files);
}

async function changeIn(
  format: TranscriptFormat,
  row: ChangeRow,
  lines: readonly { offset: number; length: number }[],
  files: OpenFiles,
): Promise<RecordedChange | undefined> {
  const found = { path: row.file, session: "", parent: null, archived: false, packed: row.packed === 1 };
  const interpreter = await format.interpreter(found, nothingKnown, undefined);
  const facts: Fact[] = [];
  for (const { offset, length } of lines) {
    const bytes = await files.bytes({ ...row, path: row.file, offset, length, message: 0, record: 0, oversize: 0 });
    const { records } = parseLine(bytes, (value) => format.isRecord(value));
    const place = { file: row.file, line: 0, offset, length };
    for (const record of records) facts.push(...interpreter.record(record, place));
  }
  return facts.flatMap((fact) =>
    fact.kind === "change" && fact.change.path === row.path && (row.call_id === null || fact.callId === row.call_id)
      ? [fact.change]
      : [],
  )[0];
}

const nothingKnown: FileContext = { totalsOf: () => undefined, startContains: async () => true };

function recorded(row: ChangeRow, change: RecordedChange): RecordedFileChange {
  return {
    messageId: row.key === null || row.idx === null ? null : idOf({ key: row.key, idx: row.idx }),
    path: change.path,
    from: change.from,
    kind: change.kind,
    before: bytesOf(change.before),
    after: bytesOf(change.after),
    patch: change.patch,
    additions: change.additions,
    deletions: change.deletions,
  };
}

function bytesOf(text: string | null | undefined): Uint8Array | null | undefined {
  return typeof text === "string" ? new TextEncoder().encode(text) : text;
}
