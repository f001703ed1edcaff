import { dirname, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { v4, v5, validate } from "uuid";
import { type ForkPoint, forkPoint } from "../fork-point.ts";
import { isObject, type JsonRecord, parseLine } from "../json-line.ts";
import { readLines } from "../lines.ts";
import { writeNewFile } from "../new-file.ts";
import { nonEmpty, object } from "../shapes.ts";
import type { SessionForker } from "../store.ts";
import type { IndexHome } from "../stores/transcript-store.ts";
import type { TranscriptReader } from "../transcripts/reader.ts";

/** Fields that name a line; the fork's lines have ids of their own. */
const lineFields = [
  "uuid",
  "parentUuid",
  "logicalParentUuid",
  "leafUuid",
  "messageId",
  "headUuid",
  "anchorUuid",
  "tailUuid",
];

/** Forks a Claude Code session into a new transcript beside its own. */
export function claudeCodeForker(home: IndexHome, reader: TranscriptReader): SessionForker {
  return {
    async fork(id, at, options, signal) {
      const summary = await reader.get(id, signal);
      if (summary === undefined) throw new ToolError("not_found", `no session ${id}`);
      const db = await home.database();
      const point = forkPoint(db, "claude-code", id, at);
      const fork = v4();
      const target = join(dirname(point.path), `${fork}.jsonl`);
      await options.ask({
        permission: "session.fork",
        resources: [target],
        reason: `write a fork of session ${id}`,
        always: [`session.fork:${dirname(point.path)}/*`],
      });
      const offsets = new Set(
        db
          .all<{ offset: number }>("SELECT offset FROM lines WHERE message IN (SELECT value FROM json_each(?))", [
            JSON.stringify(point.messages),
          ])
          .map(({ offset }) => offset),
      );
      const title = options.title ?? `${summary.title || "Session"} (fork)`;
      await writeNewFile(
        target,
        forkedLines({ id, fork, title, point, offsets, maxLineBytes: home.maxLineBytes, signal }),
      );
      const made = await reader.get(fork, signal);
      if (made === undefined) throw new ToolError("internal", `the fork at ${target} cannot be read back`);
      return {
        fork: made,
        at: point.at,
        copied: point.messages.length,
        resume: `claude --resume ${fork}`,
        notes: [],
      };
    },
  };
}

interface Job {
  id: string;
  fork: string;
  title: string;
  point: ForkPoint;
  offsets: ReadonlySet<number>;
  maxLineBytes: number;
  signal: AbortSignal;
}

/** Lines of the path with their links turned to the fork's own, then the title. */
async function* forkedLines(job: Job): AsyncIterable<string> {
  const copied = new Map<string, string>();
  /** Where a line that is left out hangs: its children go there. */
  const above = new Map<string, string | null>();
  let last: string | null = null;
  for await (const line of readLines(job.point.path, 0, job)) {
    const { records } = parseLine(line.bytes, (value) => typeof value.type === "string");
    for (const record of records) {
      const uuid = nonEmpty(record.uuid);
      const kept = job.offsets.has(line.offset) || isSummaryOf(record, copied) || isSnapshotOf(record, copied);
      if (!kept || record.isSidechain === true) {
        if (uuid !== undefined)
          above.set(uuid, nonEmpty(record.parentUuid) ?? nonEmpty(record.logicalParentUuid) ?? null);
        continue;
      }
      const parent = uuid === undefined ? null : parentIn(record, copied, above, last);
      if (uuid !== undefined) {
        copied.set(uuid, v5(uuid, job.fork));
        last = uuid;
      }
      yield JSON.stringify(rewritten(record, parent, copied, job));
    }
  }
  yield JSON.stringify({ type: "custom-title", customTitle: job.title, sessionId: job.fork });
}

/** The nearest line above that is in the fork; a parent that was never in the file is the line before. */
function parentIn(
  record: JsonRecord,
  copied: ReadonlyMap<string, string>,
  above: ReadonlyMap<string, string | null>,
  last: string | null,
): string | null {
  const named = nonEmpty(record.parentUuid);
  if (named === undefined) return null;
  for (
    let at: string | null | undefined = named, steps = 0;
    at !== null && at !== undefined && steps <= above.size;
    steps += 1
  ) {
    if (copied.has(at)) return at;
    at = above.get(at);
  }
  return last;
}

function isSummaryOf(record: JsonRecord, copied: ReadonlyMap<string, string>): boolean {
  return record.type === "summary" && copied.has(nonEmpty(record.leafUuid) ?? "");
}

function isSnapshotOf(record: JsonRecord, copied: ReadonlyMap<string, string>): boolean {
  return record.type === "file-history-snapshot" && copied.has(nonEmpty(record.messageId) ?? "");
}

function rewritten(
  record: JsonRecord,
  parent: string | null,
  copied: ReadonlyMap<string, string>,
  job: Job,
): JsonRecord {
  const line = renamed(record, copied, job.fork);
  const uuid = nonEmpty(record.uuid);
  return {
    ...line,
    ...("sessionId" in record && { sessionId: job.fork }),
    ...(uuid !== undefined &&
      "parentUuid" in record && { parentUuid: parent === null ? null : (copied.get(parent) ?? null) }),
    ...(uuid !== undefined && { forkedFrom: { sessionId: job.id, messageUuid: uuid } }),
  };
}

/** Every field that names a line, in snapshots and compaction marks too; `message.id` stays, so that usage is known again. */
function renamed(record: JsonRecord, copied: ReadonlyMap<string, string>, fork: string): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => {
      if (key === "message" || key === "toolUseResult") return [key, value];
      if (lineFields.includes(key) && typeof value === "string") {
        return [key, copied.get(value) ?? (validate(value) ? v5(value, fork) : value)];
      }
      if (key === "preservedMessages" && Array.isArray(value)) {
        return [
          key,
          value.map((entry) =>
            typeof entry === "string"
              ? (copied.get(entry) ?? entry)
              : isObject(entry)
                ? renamed(entry, copied, fork)
                : entry,
          ),
        ];
      }
      const inner = object(value);
      return [key, inner === undefined ? value : renamed(inner, copied, fork)];
    }),
  );
}
