import type { RawHit } from "../types.ts";
import { hostKey, urlKey } from "./url-key.ts";

const rankOffset = 60;
const mostPerHost = 2;

/** The answers of one source, in its order. */
export interface RankedSource {
  name: string;
  weight: number;
  hits: readonly RawHit[];
}

export interface FusedHit extends RawHit {
  sources: { name: string; rank: number }[];
  score: number;
}

interface Group extends FusedHit {
  bestRank: number;
  firstSource: number;
}

/**
 * Reciprocal rank fusion: a page's score is the sum of `weight / (60 + rank)` over the sources that list it. The same page
 * is one result with the longest snippet; ties go to the best rank, then to the first source.
 *
 * @see Cormack, Clarke, Büttcher: Reciprocal rank fusion (SIGIR 2009)
 */
export function fuse(sources: readonly RankedSource[]): FusedHit[] {
  const groups = new Map<string, Group>();
  sources.forEach(({ name, weight, hits }, order) => {
    const seen = new Set<string>();
    let rank = 0;
    for (const hit of hits) {
      const key = urlKey(hit.url);
      if (seen.has(key)) continue;
      seen.add(key);
      rank += 1;
      const score = weight / (rankOffset + rank);
      const group = groups.get(key);
      if (group === undefined) {
        groups.set(key, { ...hit, sources: [{ name, rank }], score, bestRank: rank, firstSource: order });
        continue;
      }
      group.sources.push({ name, rank });
      group.score += score;
      group.bestRank = Math.min(group.bestRank, rank);
      if (hit.snippet.length > group.snippet.length) group.snippet = hit.snippet;
      if (group.published === undefined && hit.published !== undefined) group.published = hit.published;
      if (group.url.startsWith("http:") && hit.url.startsWith("https:")) group.url = hit.url;
    }
  });
  return [...groups.values()]
    .sort((a, b) => b.score - a.score || a.bestRank - b.bestRank || a.firstSource - b.firstSource)
    .map(({ bestRank: _rank, firstSource: _source, ...hit }) => hit);
}

/** At most two results of one host, unless that leaves places empty. */
export function limitHosts(hits: readonly FusedHit[], limit: number): FusedHit[] {
  const perHost = new Map<string, number>();
  const chosen: FusedHit[] = [];
  const over: FusedHit[] = [];
  for (const hit of hits) {
    const host = hostKey(hit.url);
    const count = perHost.get(host) ?? 0;
    perHost.set(host, count + 1);
    if (count < mostPerHost) chosen.push(hit);
    else over.push(hit);
  }
  const taken = new Set([...chosen, ...over].slice(0, limit));
  return hits.filter((hit) => taken.has(hit));
}
