/** What a memory is; the first two never fade. */
export const categories = ["decision", "preference", "fact", "lesson", "note"] as const;
export type Category = (typeof categories)[number];

export const relevances = ["low", "medium", "high"] as const;
export type Relevance = (typeof relevances)[number];

export const scopes = ["workspace", "role"] as const;
/** `workspace`: every role of the workspace sees it; `role`: only the role that wrote it. */
export type Scope = (typeof scopes)[number];

export const states = ["live", "superseded", "forgotten"] as const;
export type State = (typeof states)[number];

/** A memory as applications see it. Times are ISO 8601 UTC, lengths code points. */
export interface Memory {
  id: string;
  title: string;
  category: Category;
  relevance: Relevance;
  scope: Scope;
  /** The role it belongs to; null in scope `workspace`. */
  role: string | null;
  tags: string[];
  about: string[];
  createdAt: string;
  updatedAt: string;
  version: number;
  state: State;
  supersededBy: string | null;
  supersedes: string[];
  chars: number;
  uses: number;
  lastUsedAt: string | null;
  /** As of now: the stored confidence times how much of it has faded, 0–1. */
  confidence: number;
  source: { agent: string; sessionId: string; imported: boolean };
}

export interface Hit extends Memory {
  excerpt: string;
  truncated: boolean;
  /** Terms of the query that stand in the memory itself. */
  matched: string[];
  /** 1 for the best of this query. */
  score: number;
  why: { text: number; subject: number; prior: number; vector: number | null };
}

export interface Warning {
  code: string;
  message: string;
  kind?: string | undefined;
  field?: string | undefined;
  /** UTF-16 offsets in the field. */
  start?: number | undefined;
  end?: number | undefined;
}

/** A part of a search that failed while the rest answered. */
export interface Degraded {
  part: "vectors";
  code: string;
  message: string;
}
