import { ToolError } from "@toolhaft/core";
import { createTaskId } from "./ids.ts";
import type { TaskKind } from "./model.ts";
import { blankRecord, dueOf, type TaskRecord } from "./record.ts";
import type { NewTask } from "./store.ts";

/** The row of a task that is posted now, but for its seq. */
export function postedRecord(init: NewTask, now: number): TaskRecord {
  const row: TaskRecord = brought(blankRecord, init, now);
  row.due_at = dueOf(row);
  return row;
}

/** What a post brings; all other columns begin as they stand in the base. */
function brought<Base extends Partial<TaskRecord>>(base: Readonly<Base>, init: NewTask, now: number) {
  const depends = init.dependsOn === undefined ? [] : [...new Set(init.dependsOn)];
  const blocked = depends.length > 0;
  return {
    ...base,
    id: createTaskId(now),
    kind: init.kind,
    title: init.title,
    agent: init.agent ?? null,
    assignee: init.assignee ?? null,
    created_agent: init.createdBy.agent,
    created_session: init.createdBy.sessionId,
    state: blocked ? ("blocked" as const) : ("queued" as const),
    mode: init.mode ?? null,
    class: init.mode ?? null,
    priority: init.priority ?? 0,
    lane: init.lane ?? null,
    owner: init.ownerSession,
    root: init.rootSession,
    parent: init.parentTask ?? null,
    depth: init.depth ?? 0,
    continues: init.continues ?? null,
    slot_of: init.slotOf ?? null,
    dedupe_key: init.dedupeKey ?? null,
    depends_json: blocked ? JSON.stringify(depends) : null,
    max_attempts: init.maxAttempts ?? 1,
    on_lost: init.onLost ?? ("requeue" as const),
    session_id: init.sessionId ?? null,
    limits_json: init.limits === undefined ? null : JSON.stringify(init.limits),
    allow_empty: (init.allowEmptyOutput ?? init.kind === "board") ? 1 : 0,
    resume_json: init.continues == null ? null : JSON.stringify({ why: "continue" }),
    not_before: init.notBefore ?? null,
    created_at: now,
    queued_at: blocked ? null : now,
    meta_json: init.metadata == null ? null : JSON.stringify(init.metadata),
  };
}

const nobody = { agent: "", sessionId: "" };
const example: NewTask = { kind: "board", title: "", body: "", createdBy: nobody, ownerSession: "", rootSession: "" };

/** The columns that a post writes. */
export const postedColumns: readonly (keyof TaskRecord)[] = [
  ...(Object.keys(brought({}, example, 0)) as (keyof TaskRecord)[]),
  "last_seq",
  "due_at",
];

/** Its lane, or the board, holds as many as it may. */
export function noRoom(kind: TaskKind, lane: string | null | undefined, queued: number, limit: number): ToolError {
  const where = kind === "board" ? "the board" : `lane ${lane ?? ""}`;
  return new ToolError("unavailable", `${where} holds ${queued} waiting tasks, at most ${limit} are allowed`, {
    hint: "wait until some of them are done, then repeat the call",
    retryable: true,
    details: { lane: lane ?? null, queued, limit, retryAfterMs: 5_000 },
  });
}

export function noSuchDependency(): ToolError {
  return new ToolError("invalid_input", "depends_on names a task that is not on this store", {
    hint: "post the tasks it waits for first, and copy their ids whole",
  });
}
