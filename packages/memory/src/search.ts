import { ToolError } from "@toolhaft/core";
import { analyse, analyseQuery, excerpt, foldText } from "@toolhaft/text";
import type { Degraded, Hit } from "./model.ts";
import type { Settings } from "./options.ts";
import { type InContext, type Population, type Ranked, type RankQuery, rank } from "./rank.ts";
import type { Caller, Candidate, Filter, MemoryRecord, MemoryStore } from "./store.ts";
import { searchByMeaning } from "./vectors.ts";
import { toMemory } from "./view.ts";

/** Candidates of the first pass, which reads the rarest terms only. */
const firstPass = 150;
/** Of those, the best by all terms are read in their context. */
const inContext = 24;
const lexicalShare = 0.7;
const excerptChars = 240;
/** Code points of all excerpts together that one answer shows in full. */
const fullChars = 20_000;

export interface MemoryQuery extends Filter {
  query: string;
  limit: number;
  /** Whole contents while they fit. */
  full: boolean;
  offset: number;
}

export interface SearchResult {
  hits: Hit[];
  matched: number;
  matchedIsFloor: boolean;
  visible: number;
  terms: { used: string[]; ignored: string[] };
  degraded: Degraded[];
  /** Offset of the next page, or null. */
  nextOffset: number | null;
  /** The query holds nothing to search for; the newest memories are given. */
  newest: boolean;
}

/** Finds memories by words, by what stands beside them and, with an embedder, by meaning. */
export async function search(
  store: MemoryStore,
  caller: Caller,
  query: MemoryQuery,
  now: number,
  settings: Settings,
  signal: AbortSignal,
): Promise<SearchResult> {
  const names = await store.subjects(caller, analyse(query.query), signal);
  const analysed: RankQuery = {
    ...analyseQuery(query.query, new Set(names.map(({ name }) => name))),
    titleKey: foldText(query.query),
  };
  const found = await store.candidates(
    caller,
    { ...query, terms: analysed.terms, titleKey: analysed.titleKey, limit: firstPass },
    signal,
  );
  const lexical = await rankInContext(store, caller, analysed, found, query, now, settings, signal);
  const vectors = settings.embedder
    ? await searchByMeaning(settings.embedder, store, caller, query.query, query, signal)
    : { cosines: new Map<string, number>(), degraded: [] };
  const merged = await mergeMeaning(store, caller, lexical, vectors.cosines, signal);
  const kept = await withPhrases(store, caller, merged, analysed.phrases, signal);
  const nothingToSearch = analysed.terms.length === 0 && kept.length === 0;
  if (nothingToSearch) return newest(store, caller, query, now, settings, signal, vectors.degraded);
  const page = kept.slice(query.offset, query.offset + query.limit);
  const records = await store.records(
    caller,
    page.map(({ candidate }) => candidate.id),
    signal,
  );
  const hits = toHits(records, page, analysed, query.full, now, settings);
  return {
    hits,
    matched: Math.max(kept.length, analysed.phrases.length > 0 ? 0 : found.matched),
    matchedIsFloor: found.capped,
    visible: found.count,
    terms: { used: wordsOf(query.query, analysed.terms), ignored: analysed.ignored },
    degraded: vectors.degraded,
    nextOffset: query.offset + query.limit < kept.length ? query.offset + query.limit : null,
    newest: false,
  };
}

async function rankInContext(
  store: MemoryStore,
  caller: Caller,
  query: RankQuery,
  found: Population & { rows: readonly Candidate[] },
  filter: Filter,
  now: number,
  settings: Settings,
  signal: AbortSignal,
): Promise<Merged[]> {
  const alone = rank(
    query,
    found.rows.map((candidate) => ({ candidate, neighbours: [] })),
    found,
    now,
    settings.weights,
  );
  const reach = settings.weights.context.length;
  if (reach === 0 || alone.length === 0) return alone.map(lexicalOnly);
  const centers = alone.slice(0, inContext).map(({ candidate }) => candidate.id);
  const windows = await store.windows(caller, centers, reach * 2, signal);
  const contexts = new Map<string, InContext>();
  for (const [index, window] of windows.entries())
    collectContexts(window, centers[index] ?? "", reach, filter, contexts);
  const ranked = rank(query, [...contexts.values()], found, now, settings.weights);
  const rest = alone.slice(inContext).filter(({ candidate }) => !contexts.has(candidate.id));
  const last = ranked.at(-1)?.score ?? 1;
  return [
    ...ranked.map(lexicalOnly),
    ...rest.map((entry) => ({ ...lexicalOnly(entry), score: Math.min(entry.score, last) })),
  ];
}

/** A window reaches twice as far as context does, so what lies within reach of its middle has its whole context here. */
function collectContexts(
  window: readonly Candidate[],
  center: string,
  reach: number,
  filter: Filter,
  contexts: Map<string, InContext>,
): void {
  const middle = window.findIndex(({ id }) => id === center);
  for (let at = Math.max(0, middle - reach); at <= Math.min(window.length - 1, middle + reach); at++) {
    const candidate = window[at];
    if (!candidate || contexts.has(candidate.id) || !passes(candidate, filter)) continue;
    const neighbours = Array.from({ length: reach }, (_, index) =>
      [window[at - index - 1], window[at + index + 1]].filter((neighbour) => neighbour !== undefined),
    );
    contexts.set(candidate.id, { candidate, neighbours });
  }
}

/** The caller's own filters; who may see what is decided in the store. */
function passes(candidate: Candidate, { scope, category, tags, about }: Filter): boolean {
  if (scope !== "both" && candidate.scope !== scope) return false;
  if (category !== null && candidate.category !== category) return false;
  const [tagKeys, aboutKeys] = [candidate.tags.map(foldText), candidate.about.map(foldText)];
  return tags.every((tag) => tagKeys.includes(tag)) && about.every((subject) => aboutKeys.includes(subject));
}

interface Merged extends Ranked {
  vector: number | null;
}

function lexicalOnly(entry: Ranked): Merged {
  return { ...entry, vector: null };
}

/** Both scores against their best, then weighted: neither scale means anything to the other. */
async function mergeMeaning(
  store: MemoryStore,
  caller: Caller,
  lexical: readonly Merged[],
  cosines: ReadonlyMap<string, number>,
  signal: AbortSignal,
): Promise<Merged[]> {
  if (cosines.size === 0) return [...lexical];
  const best = Math.max(...cosines.values());
  const known = new Set(lexical.map(({ candidate }) => candidate.id));
  const others = [...cosines.keys()].filter((id) => !known.has(id));
  const windows = await store.windows(caller, others, 0, signal);
  const byMeaning = windows.flat().map(
    (candidate): Merged => ({
      candidate,
      score: 0,
      text: 0,
      subject: 1,
      prior: 1,
      matched: [],
      exact: false,
      vector: null,
    }),
  );
  const merged = [...lexical, ...byMeaning].map((entry) => {
    const cosine = cosines.get(entry.candidate.id) ?? null;
    const meaning = cosine === null || best <= 0 ? 0 : Math.max(0, cosine / best);
    return { ...entry, score: lexicalShare * entry.score + (1 - lexicalShare) * meaning, vector: cosine };
  });
  merged.sort(
    (a, b) => Number(b.exact) - Number(a.exact) || b.score - a.score || (b.candidate.id > a.candidate.id ? 1 : -1),
  );
  const top = Math.max(...merged.map(({ score }) => score), 0);
  return top > 0 ? merged.map((entry) => ({ ...entry, score: entry.score / top })) : merged;
}

/** `"…"` is a demand on the text itself. A title that is the query has met it. */
async function withPhrases(
  store: MemoryStore,
  caller: Caller,
  entries: readonly Merged[],
  phrases: readonly string[],
  signal: AbortSignal,
): Promise<Merged[]> {
  if (phrases.length === 0) return [...entries];
  const records = await store.records(
    caller,
    entries.map(({ candidate }) => candidate.id),
    signal,
  );
  const holding = new Set(
    records
      .filter(({ title, content }) => {
        const texts = [foldText(title), foldText(content)];
        return phrases.every((phrase) => texts.some((text) => text.includes(phrase)));
      })
      .map(({ id }) => id),
  );
  return entries.filter(({ candidate, exact }) => exact || holding.has(candidate.id));
}

function toHits(
  records: readonly MemoryRecord[],
  page: readonly Merged[],
  query: RankQuery,
  full: boolean,
  now: number,
  settings: Settings,
): Hit[] {
  const byId = new Map(records.map((record) => [record.id, record]));
  let room = fullChars;
  return page.flatMap((entry) => {
    const record = byId.get(entry.candidate.id);
    if (!record) return [];
    const memory = toMemory(record, now, settings.halfLives);
    const whole = full && memory.chars <= room;
    const part = whole
      ? { text: record.content, truncated: false }
      : excerpt(record.content, query.terms, excerptChars);
    if (full) room -= whole ? memory.chars : excerptChars;
    return [
      {
        ...memory,
        excerpt: part.text,
        truncated: part.truncated,
        matched: [...entry.matched],
        score: entry.score,
        why: { text: entry.text, subject: entry.subject, prior: entry.prior, vector: entry.vector },
      },
    ];
  });
}

/** A query of punctuation says nothing; the newest memories are better than an error. */
async function newest(
  store: MemoryStore,
  caller: Caller,
  query: MemoryQuery,
  now: number,
  settings: Settings,
  signal: AbortSignal,
  degraded: Degraded[],
): Promise<SearchResult> {
  const page = await store.list(
    caller,
    { ...query, sort: "recent", state: "live", limit: query.limit, after: null },
    signal,
  );
  if (signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
  const hits = page.items.map((record): Hit => {
    const memory = toMemory(record, now, settings.halfLives);
    const part = excerpt(record.content, [], excerptChars);
    const why = { text: 0, subject: 1, prior: 1, vector: null };
    return { ...memory, excerpt: part.text, truncated: part.truncated, matched: [], score: 0, why };
  });
  return {
    hits,
    matched: 0,
    matchedIsFloor: false,
    visible: page.total,
    terms: { used: [], ignored: [] },
    degraded,
    nextOffset: null,
    newest: true,
  };
}

/** The words of a query as typed, of which at least one term was searched for. */
function wordsOf(query: string, terms: readonly string[]): string[] {
  const searched = new Set(terms);
  const words = query.match(/[^\s"“”(),;!?。、，！？「」]+/gu) ?? [];
  return [...new Set(words.filter((word) => analyse(word).some((term) => searched.has(term))))];
}
