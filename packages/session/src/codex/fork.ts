import { join } from "node:path";
import { ToolError } from "@toolhaft/core";
import { v7 } from "uuid";
import { type ForkPoint, forkPoint } from "../fork-point.ts";
import { type JsonRecord, parseLine } from "../json-line.ts";
import { readLines } from "../lines.ts";
import { writeNewFile } from "../new-file.ts";
import { nonEmpty, object } from "../shapes.ts";
import type { SessionForker } from "../store.ts";
import type { IndexHome } from "../stores/transcript-store.ts";
import { packedSource } from "../transcripts/packed.ts";
import type { TranscriptReader } from "../transcripts/reader.ts";

/** Events after the last line of a point that still belong to it. */
const trailing = new Set(["token_count", "task_complete", "turn_complete"]);
const ends = new Set(["task_complete", "turn_complete", "turn_aborted"]);

/** Forks a Codex session into a new rollout under today's date. */
export function codexForker(home: string, index: IndexHome, reader: TranscriptReader): SessionForker {
  return {
    async fork(id, at, options, signal) {
      const summary = await reader.get(id, signal);
      if (summary === undefined) throw new ToolError("not_found", `no session ${id}`);
      const point = forkPoint(await index.database(), "codex", id, at);
      const meta = await metaOf(point, index.maxLineBytes, signal);
      const now = new Date(index.clock.now());
      const fork = v7({ msecs: now.getTime() });
      const target = pathOf(home, now, fork);
      await options.ask({
        permission: "session.fork",
        resources: [target],
        reason: `write a fork of session ${id}`,
        always: [`session.fork:${join(home, "sessions")}/**`],
      });
      await writeNewFile(
        target,
        forkedLines({ id, fork, now, meta, title: options.title, point, maxLineBytes: index.maxLineBytes, signal }),
      );
      const made = await reader.get(fork, signal);
      if (made === undefined) throw new ToolError("internal", `the fork at ${target} cannot be read back`);
      return { fork: made, at: point.at, copied: point.messages.length, resume: `codex resume ${fork}`, notes: [] };
    },
  };
}

function pathOf(home: string, now: Date, fork: string): string {
  const stamp = now.toISOString().slice(0, 19);
  const [year = "", month = "", day = ""] = stamp.slice(0, 10).split("-");
  return join(home, "sessions", year, month, day, `rollout-${stamp.replaceAll(":", "-")}-${fork}.jsonl`);
}

/** The source's own first record; what cannot be forked is told with the reason. */
async function metaOf(point: ForkPoint, maxLineBytes: number, signal: AbortSignal): Promise<JsonRecord> {
  for await (const line of readLines(sourceOf(point), 0, { maxLineBytes, signal })) {
    const [record] = parseLine(line.bytes, (value) => typeof value.type === "string").records;
    const payload = object(record?.payload);
    if (record?.type !== "session_meta" || payload === undefined) {
      throw new ToolError(
        "unsupported",
        "this session is in Codex's first format, which its later versions do not read",
        {
          hint: "read it with session_read",
        },
      );
    }
    if (payload.history_mode === "paginated") {
      throw new ToolError("unsupported", "this session keeps its history in pages of its own, which no copy can hold", {
        hint: "fork it in Codex itself",
      });
    }
    return payload;
  }
  throw new ToolError("conflict", `${point.path} is empty`, { hint: "call again" });
}

function sourceOf(point: ForkPoint): ReturnType<typeof packedSource> {
  return point.packed ? packedSource(point.path) : point.path;
}

interface Job {
  id: string;
  fork: string;
  now: Date;
  meta: JsonRecord;
  title: string | undefined;
  point: ForkPoint;
  maxLineBytes: number;
  signal: AbortSignal;
}

async function* forkedLines(job: Job): AsyncIterable<string> {
  const timestamp = job.now.toISOString();
  const { ordinal: _, parent_thread_id: __, ...kept } = job.meta;
  yield JSON.stringify({
    timestamp,
    type: "session_meta",
    payload: {
      ...kept,
      id: job.fork,
      ...("session_id" in kept && { session_id: job.fork }),
      forked_from_id: job.id,
      timestamp,
    },
  });
  let openTurn: string | null | undefined;
  for await (const line of readLines(sourceOf(job.point), 0, job)) {
    const { records } = parseLine(line.bytes, (value) => typeof value.type === "string");
    for (const record of records) {
      const type = nonEmpty(object(record.payload)?.type) ?? "";
      if (line.offset > job.point.lastOffset && !(record.type === "event_msg" && trailing.has(type))) {
        yield* ending(openTurn, timestamp, job.title);
        return;
      }
      if (type === "task_started" || type === "turn_started")
        openTurn = nonEmpty(object(record.payload)?.turn_id) ?? null;
      if (ends.has(type)) openTurn = undefined;
      yield JSON.stringify(copied(record, nonEmpty(job.meta.model_provider)));
    }
  }
  yield* ending(openTurn, timestamp, job.title);
}

function* ending(openTurn: string | null | undefined, timestamp: string, title: string | undefined): Iterable<string> {
  if (openTurn !== undefined) {
    const payload = { type: "turn_aborted", ...(openTurn !== null && { turn_id: openTurn }), reason: "interrupted" };
    yield JSON.stringify({ timestamp, type: "event_msg", payload });
  }
  if (title !== undefined) {
    yield JSON.stringify({
      timestamp,
      type: "event_msg",
      payload: { type: "thread_name_updated", thread_name: title },
    });
  }
}

/** Ordinals repeat in a copy, and the raw reasoning of other providers' models is not sent back to them. */
function copied(record: JsonRecord, provider: string | undefined): JsonRecord {
  const { ordinal: _, ...rest } = record;
  const payload = object(rest.payload);
  if (payload?.type !== "reasoning" || provider === "openai" || provider === undefined) return rest;
  const { content: __, ...reasoning } = payload;
  return { ...rest, payload: reasoning };
}
