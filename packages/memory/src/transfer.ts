import { createHash } from "node:crypto";
import { createId, ToolError } from "@toolhaft/core";
import { foldText } from "@toolhaft/text";
import { readRecord } from "./import-record.ts";
import { splitObjects } from "./json-stream.ts";
import type { ExportFilter, ExportRecord, ImportPolicy, MemoryStore } from "./store.ts";

const format = "toolhaft-memory";
const version = 1;
const batchSize = 500;

/** JSON Lines: a head, then memories, keys, entities and edges in id order. */
export async function* exportLines(
  store: MemoryStore,
  filter: ExportFilter,
  now: number,
  signal: AbortSignal,
): AsyncIterable<string> {
  yield `${JSON.stringify({ format, version, exportedAt: new Date(now).toISOString() })}\n`;
  for await (const { type, value } of store.readAll(filter, signal))
    yield `${JSON.stringify({ type, ...withoutType(value) })}\n`;
}

/** An entity's and an edge's own type travels beside the type of the record. */
function withoutType(value: ExportRecord["value"]): Record<string, unknown> {
  if (!("type" in value)) return { ...value };
  const { type, ...rest } = value;
  return { ...rest, typeName: type };
}

export interface ImportOptions {
  /** What to do with an id that is there already. @default "skip" */
  onConflict?: ImportPolicy["onConflict"];
  /** For records without an owner of their own (the official memory server's). @default "." and "main" */
  workspace?: string;
  agent?: string;
  signal?: AbortSignal;
}

export interface ImportReport {
  imported: number;
  updated: number;
  skipped: number;
  problems: readonly { line: number; reason: string }[];
}

/**
 * Imports in batches of 500, one transaction each; a bad record is left out and reported.
 *
 * @throws ToolError `invalid_input` for a JSON array or a file of another format, `unsupported` for a newer format
 */
export async function importLines(
  store: MemoryStore,
  source: AsyncIterable<string | Uint8Array>,
  options: ImportOptions,
  now: number,
): Promise<ImportReport> {
  const { onConflict = "skip", workspace = ".", agent = "main", signal } = options;
  const report = { imported: 0, updated: 0, skipped: 0, problems: [] as { line: number; reason: string }[] };
  const owner = { workspace, agent, now, id: stableId(`${workspace}\0${agent}`) };
  let batch: { record: ExportRecord; line: number }[] = [];
  const later: { record: ExportRecord; line: number }[] = [];

  for await (const { text, line, problem } of splitObjects(source)) {
    if (signal?.aborted)
      throw new ToolError("cancelled", `the import was cancelled; ${report.imported} records are stored`);
    if (problem !== undefined) {
      report.problems.push({ line, reason: problem });
      continue;
    }
    try {
      for (const record of readRecord(JSON.parse(text), owner)) {
        // Edges name entities that may stand further down.
        (record.type === "edge" ? later : batch).push({ record, line });
      }
    } catch (error) {
      if (error instanceof ToolError) throw error;
      report.problems.push({ line, reason: error instanceof Error ? error.message : String(error) });
    }
    if (batch.length >= batchSize) await flush(batch.splice(0));
  }
  await flush(batch);
  batch = later;
  while (batch.length > 0) await flush(batch.splice(0, batchSize));
  report.problems.sort((a, b) => a.line - b.line);
  return report;

  async function flush(entries: readonly { record: ExportRecord; line: number }[]): Promise<void> {
    if (entries.length === 0) return;
    const loaded = await store.load(
      entries.map(({ record }) => record),
      { onConflict },
    );
    report.imported += loaded.imported;
    report.updated += loaded.updated;
    report.skipped += loaded.skipped;
    for (const { index, reason } of loaded.problems) report.problems.push({ line: entries[index]?.line ?? 0, reason });
  }
}

/** Ids that follow from the content, so that the same foreign file imported twice is the same rows. */
function stableId(owner: string): (prefix: string, key: string) => string {
  return (prefix, key) => {
    const digest = createHash("sha256")
      .update(`${owner}\0${prefix}\0${foldText(key)}`)
      .digest();
    const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    const letters = [...digest.subarray(0, 26)].map((byte) => alphabet.charAt(byte & 31));
    return `${prefix}_${createId(0).slice(0, 10)}${letters.join("").slice(0, 16)}`;
  };
}
