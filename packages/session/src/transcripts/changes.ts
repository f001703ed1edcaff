import type { Database } from "@toolhaft/sqlite";
import type { Fact, RecordedChange } from "../facts.ts";
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
      : db.get<{ seq: number }>("SELECT seq FROM messages WHERE session = ? AND (key = ? OR '#' || idx = ?)", [
          session,
          upTo,
          upTo,
        ]);
  const rows = db.all<ChangeRow>(
    `SELECT c.n, c.message, m.key, m.idx, c.call_id, c.path, c.from_path, c.kind, f.path AS file, f.packed, c.offset, c.length
     FROM changes c JOIN files f ON f.id = c.file LEFT JOIN messages m ON m.row = c.message
     WHERE c.session = ? AND (m.branch IS NULL OR m.branch = 'main') AND (? IS NULL OR coalesce(m.seq, 0) <= ?) ORDER BY c.n`,
    [session, last?.seq ?? null, last?.seq ?? null],
  );
  const files = new OpenFiles(format, { ...options, recent: false });
  const changes: RecordedFileChange[] = [];
  try {
    for (const row of rows) {
      const change = await changeAt(format, row, files);
      if (change !== undefined) changes.push(recorded(row, change));
    }
  } finally {
    await files.close();
  }
  const commands = db.get<{ n: number }>(
    "SELECT count(*) AS n FROM calls WHERE session = ? AND name IN ('Bash', 'shell', 'exec_command', 'local_shell', 'shell_command')",
    [session],
  );
  const notes = (commands?.n ?? 0) > 0 ? ["Files changed by shell commands are not recorded in this transcript."] : [];
  return { basis: changes.some(({ after }) => after !== undefined) ? "snapshots" : "patches", changes, notes };
}

/** The line is interpreted again for its change; the rest of the session is not needed for that. */
async function changeAt(
  format: TranscriptFormat,
  row: ChangeRow,
  files: OpenFiles,
): Promise<RecordedChange | undefined> {
  const bytes = await files.bytes({ ...row, path: row.file, message: 0, record: 0, oversize: 0 });
  const { records } = parseLine(bytes, (value) => format.isRecord(value));
  const found = { path: row.file, session: "", parent: null, archived: false, packed: row.packed === 1 };
  const interpreter = await format.interpreter(found, nothingKnown, undefined);
  const place = { file: row.file, line: 0, offset: row.offset, length: row.length };
  const facts: Fact[] = records.flatMap((record) => [...interpreter.record(record, place)]);
  return facts.flatMap((fact) => (fact.kind === "change" && fact.change.path === row.path ? [fact.change] : []))[0];
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
