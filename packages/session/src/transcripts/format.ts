import type { CallResult, Content, Interpreter } from "../facts.ts";
import type { JsonRecord } from "../json-line.ts";
import type { LineSource } from "../lines.ts";
import type { Changes } from "../store.ts";
import type { FileStat } from "./file-state.ts";

/** A transcript file as the host's folders name it. */
export interface FoundFile {
  path: string;
  /** The session it holds, until the file says otherwise. */
  session: string;
  /** Set for a subagent's own file: the session above it. */
  parent: string | null;
  archived: boolean;
  /** Compressed, or made from a database: read from the start only. */
  packed: boolean;
}

/** A transcript, or what could not be looked at. */
export type Found = FoundFile | { unreadable: string; cause: string };

/** What the interpreter of a file may know of other files and of the whole file. */
export interface FileContext {
  /** Running totals of a session in order, as usage keys; undefined when the session is not known. */
  totalsOf(session: string): readonly string[] | undefined;
  /** Whether bytes stand in the first megabytes of the file. */
  startContains(bytes: string): Promise<boolean>;
}

/** States of one session's files, by where its transcript tells of them. Null: no file; undefined: not kept. */
export interface Backups {
  before(path: string, offset: number): Promise<string | null | undefined>;
  /** The first state after one place, up to another or to the end. */
  between(path: string, from: number, to: number | undefined): Promise<string | null | undefined>;
}

/** The rules of one host's line-based transcripts. */
export interface TranscriptFormat {
  readonly source: string;
  /** Tells a record from an object that merely stood inside a torn line. */
  isRecord(value: JsonRecord): boolean;
  /** Every transcript below the roots, folder by folder. Folders that cannot be read are reported, not skipped in silence. */
  find(signal: AbortSignal): AsyncIterable<readonly Found[]>;
  /** The lines of a packed file. */
  unpacked(path: string): LineSource;
  /** What tells that a file changed; undefined when it has gone. */
  stat(path: string): FileStat | undefined;
  /** Whether `stat` knows a file without `find`. */
  readonly statsAlone: boolean;
  interpreter(file: FoundFile, context: FileContext, saved: unknown): Promise<Interpreter>;
  /** Names of sessions by id, where the host keeps them in a file beside the transcripts. */
  names?(): ReadonlyMap<string, string>;
  /** States of files that the host keeps beside a transcript. */
  backups?(
    transcript: string,
    session: string,
    options: { maxLineBytes: number; signal: AbortSignal },
  ): Promise<Backups>;
  /**
   * Changes that stand in no line of a transcript, up to and including a message; undefined when the host keeps none.
   * `recorded` are those that do.
   */
  keptChanges?(
    transcript: string,
    upTo: string | undefined,
    recorded: Changes,
    signal: AbortSignal,
  ): Promise<Changes | undefined>;
  /** Content and results that one record holds, for reading a message again from its lines. */
  parts(record: JsonRecord): { content: readonly Content[]; results: readonly CallResult[] };
}
