import type { Caller, MemoryRecord, MemoryStore } from "./store.ts";
import { termsOf } from "./terms.ts";

export interface Similar {
  id: string;
  title: string;
  /** Share of distinct terms that both have, 0–1. */
  similarity: number;
}

const least = 0.6;
const most = 3;
/** Terms by which similar memories are looked for. */
const probes = 48;

/** Memories of the same scope that say nearly the same; by Jaccard overlap of distinct terms. */
export async function findSimilar(
  store: MemoryStore,
  caller: Caller,
  record: MemoryRecord,
  signal: AbortSignal,
): Promise<Similar[]> {
  const own = distinctTerms(record);
  const found = await store.candidates(
    caller,
    { terms: spread([...own]), titleKey: "", limit: 20, scope: record.scope, category: null, tags: [], about: [] },
    signal,
  );
  const similar: Similar[] = [];
  for (const { id, title, terms } of found.rows) {
    if (id === record.id) continue;
    const similarity = jaccard(own, new Set(`${terms.title} ${terms.body}`.split(" ").filter(Boolean)));
    if (similarity >= least) similar.push({ id, title, similarity: Math.round(similarity * 100) / 100 });
  }
  return similar.sort((a, b) => b.similarity - a.similarity || (a.id < b.id ? 1 : -1)).slice(0, most);
}

export function distinctTerms(memory: { title: string; content: string }): Set<string> {
  const { title, body } = termsOf({ ...memory, tags: [], about: [] });
  return new Set(`${title} ${body}`.split(" ").filter(Boolean));
}

/** Some of many terms, from all over the text: long texts that are alike share most of any choice. */
function spread(terms: readonly string[]): string[] {
  if (terms.length <= probes) return [...terms];
  const step = terms.length / probes;
  return Array.from({ length: probes }, (_, index) => terms[Math.floor(index * step)] ?? "");
}

export function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared++;
  const all = a.size + b.size - shared;
  return all === 0 ? 0 : shared / all;
}
