import { type Category, type Relevance, relevances, type Scope } from "../../model.ts";
import type { Candidate, Kind, MemoryRecord, Provenance } from "../../store.ts";

/** Columns of a record; `u` is the join with memory_uses. */
export const recordColumns = `m.row, m.id, m.scope, m.role, m.thread, m.title, m.content, m.category, m.relevance, m.tags, m.about,
  m.confidence, m.kind, m.version, m.created_at, m.updated_at, m.superseded_by, m.forgotten_at, m.provenance,
  coalesce(u.uses, 0) AS uses, u.last_used_at,
  (SELECT json_group_array(s.id) FROM memories s WHERE s.superseded_by = m.id) AS supersedes`;
export const recordTables = "memories m LEFT JOIN memory_uses u ON u.row = m.row";

export interface RecordRow {
  row: number;
  id: string;
  scope: string;
  role: string;
  thread: string;
  title: string;
  content: string;
  category: string;
  relevance: number;
  tags: string;
  about: string;
  confidence: number;
  kind: string;
  version: number;
  created_at: number;
  updated_at: number;
  superseded_by: string | null;
  forgotten_at: number | null;
  provenance: string;
  uses: number;
  last_used_at: number | null;
  supersedes: string;
}

export function toRecord(row: RecordRow): MemoryRecord {
  return {
    id: row.id,
    scope: row.scope as Scope,
    role: row.role === "" ? null : row.role,
    thread: row.thread,
    title: row.title,
    content: row.content,
    category: row.category as Category,
    relevance: toRelevance(row.relevance),
    tags: strings(row.tags),
    about: strings(row.about),
    confidence: row.confidence,
    kind: row.kind as Kind,
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    supersededBy: row.superseded_by,
    forgottenAt: row.forgotten_at,
    supersedes: strings(row.supersedes).sort(),
    uses: row.uses,
    lastUsedAt: row.last_used_at,
    provenance: JSON.parse(row.provenance) as Provenance,
  };
}

export const candidateColumns = `m.row, m.id, m.scope, m.thread, m.title, m.category, m.relevance, m.kind, m.tags, m.about, m.updated_at,
  coalesce(u.uses, 0) AS uses, u.last_used_at, t.title AS t_title, t.body AS t_body, t.tags AS t_tags, t.about AS t_about, t.len`;
export const candidateTables =
  "memories m CROSS JOIN memory_terms t ON t.row = m.row LEFT JOIN memory_uses u ON u.row = m.row";

export interface CandidateRow {
  row: number;
  id: string;
  scope: string;
  thread: string;
  title: string;
  category: string;
  relevance: number;
  kind: string;
  tags: string;
  about: string;
  updated_at: number;
  uses: number;
  last_used_at: number | null;
  t_title: string;
  t_body: string;
  t_tags: string;
  t_about: string;
  len: number;
}

export function toCandidate(row: CandidateRow): Candidate {
  return {
    id: row.id,
    scope: row.scope as Scope,
    thread: row.thread,
    title: row.title,
    category: row.category as Category,
    relevance: toRelevance(row.relevance),
    kind: row.kind as Kind,
    tags: strings(row.tags),
    about: strings(row.about),
    updatedAt: row.updated_at,
    uses: row.uses,
    lastUsedAt: row.last_used_at,
    terms: { title: row.t_title, body: row.t_body, tags: row.t_tags, about: row.t_about, length: row.len },
  };
}

export function relevanceNumber(relevance: Relevance): number {
  return relevances.indexOf(relevance);
}

function toRelevance(value: number): Relevance {
  return relevances[value] ?? "medium";
}

function strings(json: string): string[] {
  return json === "[]" ? [] : (JSON.parse(json) as string[]);
}
