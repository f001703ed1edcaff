import { lengthOf } from "./checks.ts";
import { fade, type HalfLives } from "./decay.ts";
import type { Memory, State } from "./model.ts";
import type { MemoryRecord } from "./store.ts";

/** A record as applications see it, with its confidence as of now. */
export function toMemory(record: MemoryRecord, now: number, halfLives: HalfLives): Memory {
  return {
    id: record.id,
    title: record.title,
    category: record.category,
    relevance: record.relevance,
    scope: record.scope,
    role: record.role,
    tags: [...record.tags],
    about: [...record.about],
    createdAt: iso(record.createdAt),
    updatedAt: iso(record.updatedAt),
    version: record.version,
    state: stateOf(record),
    supersededBy: record.supersededBy,
    supersedes: [...record.supersedes],
    chars: lengthOf(record.content),
    uses: record.uses,
    lastUsedAt: record.lastUsedAt === null ? null : iso(record.lastUsedAt),
    confidence: record.confidence * fade(record, now, halfLives),
    source: {
      agent: record.provenance.agent,
      sessionId: record.provenance.sessionId,
      imported: record.provenance.imported ?? false,
    },
  };
}

export function stateOf(record: Pick<MemoryRecord, "forgottenAt" | "supersededBy">): State {
  if (record.forgottenAt !== null) return "forgotten";
  return record.supersededBy === null ? "live" : "superseded";
}

export function iso(time: number): string {
  return new Date(time).toISOString();
}
