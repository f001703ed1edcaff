import { readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isMissing, staysInside } from "../folders.ts";
import { type JsonRecord, parseLine } from "../json-line.ts";
import { readLines } from "../lines.ts";
import { nonEmpty, object } from "../shapes.ts";
import type { Backups } from "../transcripts/format.ts";

/** Bytes of a line in which its type stands. */
const headBytes = 256;

interface Mention {
  offset: number;
  path: string;
  /** Null: the file did not exist. */
  file: string | null;
}

/**
 * States of files that the host keeps beside a transcript, in `file-history/<session>/`: its snapshot lines say which
 * file held which state when.
 */
export async function fileHistory(
  transcript: string,
  session: string,
  options: { maxLineBytes: number; signal: AbortSignal },
): Promise<Backups> {
  const root = dirname(dirname(dirname(transcript)));
  const folder = join(root, "file-history", basename(session));
  const mentions = await mentionsIn(transcript, options);
  const of = (path: string) =>
    mentions.filter((mention) => mention.path === path || path.endsWith(`/${mention.path.replace(/^\.\//, "")}`));
  const content = async (mention: Mention | undefined) => {
    if (mention === undefined || mention.file === null) return mention?.file;
    const file = join(folder, mention.file);
    if (!/^[\w@.-]+$/.test(mention.file) || !(await staysInside(root, file))) return undefined;
    try {
      return await readFile(file, "utf8");
    } catch (error) {
      if (isMissing(error)) return undefined;
      throw error;
    }
  };
  return {
    before(path, offset) {
      const known = of(path);
      return content(known.findLast((mention) => mention.offset <= offset) ?? known[0]);
    },
    between: (path, from, to) =>
      content(of(path).find((mention) => mention.offset > from && (to === undefined || mention.offset <= to))),
  };
}

async function mentionsIn(
  transcript: string,
  options: { maxLineBytes: number; signal: AbortSignal },
): Promise<readonly Mention[]> {
  const mentions: Mention[] = [];
  for await (const line of readLines(transcript, 0, options)) {
    if (
      !Buffer.from(line.bytes.buffer, line.bytes.byteOffset, Math.min(headBytes, line.bytes.length)).includes(
        '"file-history-',
      )
    )
      continue;
    for (const record of parseLine(line.bytes, () => true).records) {
      for (const [path, backup] of Object.entries(backupsOf(record))) {
        const file = object(backup)?.backupFileName;
        if (file === null || nonEmpty(file) !== undefined)
          mentions.push({ offset: line.offset, path, file: nonEmpty(file) ?? null });
      }
    }
  }
  return mentions;
}

/** A snapshot names all files it tracks; a delta those that were added to it, in one of two shapes. */
function backupsOf(record: JsonRecord): JsonRecord {
  const holder = object(record.snapshot) ?? object(record.delta) ?? record;
  const path = nonEmpty(holder.filePath) ?? nonEmpty(holder.path);
  if (path !== undefined) return { [path]: object(holder.backup) ?? holder };
  return object(holder.trackedFileBackups) ?? {};
}
