import type { Category } from "./model.ts";
import type { Kind } from "./store.ts";

/** Half-lives in days; null never fades. */
export type HalfLives = Readonly<Record<Category | "fragment", number | null>>;

export const defaultHalfLives: HalfLives = {
  decision: null,
  preference: null,
  lesson: 365,
  fact: 180,
  note: 60,
  fragment: 69,
};

export interface FadeInput {
  category: Category;
  kind: Kind;
  updatedAt: number;
  lastUsedAt: number | null;
  uses: number;
}

const dayMs = 86_400_000;

/**
 * How much of a memory is left, 0–1: half after each half-life without change or use; uses lengthen the life up to four
 * times. Depends on record and time only, and is never written back.
 */
export function fade(record: FadeInput, now: number, halfLives: HalfLives): number {
  const halfLife = halfLives[record.kind === "fragment" && record.category === "note" ? "fragment" : record.category];
  if (halfLife === null) return 1;
  const idle = Math.max(0, (now - Math.max(record.updatedAt, record.lastUsedAt ?? 0)) / dayMs);
  const life = halfLife * Math.min(1 + Math.log2(1 + record.uses), 4);
  return 2 ** (-idle / life);
}

const weights = { high: 1, medium: 0.7, low: 0.4 } as const;

/** Relevance times fade, 0–1. */
export function strength(
  record: FadeInput & { relevance: keyof typeof weights },
  now: number,
  halfLives: HalfLives,
): number {
  return weights[record.relevance] * fade(record, now, halfLives);
}
