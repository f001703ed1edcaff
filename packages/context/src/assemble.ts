import { type Budget, createBudget } from "./budget.ts";
import { fill, type Placed } from "./fill.ts";
import { type FrameSize, footerOf, frameSizes, headerOf } from "./frame.ts";
import { renderContext } from "./render.ts";
import { better, type Candidate, score } from "./score.ts";
import { cutLine } from "./snippet.ts";
import type { FollowUp, SourceResult, TokenCounter } from "./source.ts";

export interface AssembledHit {
  ref: string;
  /** Further refs under which the same text stands. */
  alsoAt: string[];
  source: string;
  title: string;
  snippet: string;
  /** Whether the snippet leaves out a part of the text. */
  truncated: boolean;
  value: number;
  at?: number;
  follow?: FollowUp;
}

export interface AssembledSource {
  name: string;
  status: "ok" | "empty" | "failed" | "not_configured";
  found: number;
  shown: number;
  error?: { code: string; message: string };
  /** Why the search is not complete. */
  note?: string;
  durationMs: number;
}

export interface Assembled {
  topic: string;
  maxTokens: number;
  /** What the counter says of the whole text. */
  usedTokens: number;
  tokenizer: string;
  dropped: { unrelated: number; duplicate: number; noRoom: number };
  /** Best first. */
  hits: AssembledHit[];
  sources: AssembledSource[];
  /** First and last line of the text; the hits stand between them. */
  header: string;
  footer: string;
}

export interface AssembleOptions {
  /** Most code points of a snippet, 60 to 2,000. @default 600 */
  snippetChars?: number;
}

const titleChars = 120;

/**
 * One block of text out of what several sources found, within `maxTokens` of the counter as a whole. Pure.
 *
 * @param maxTokens 100 to 20,000; header and footer count too.
 */
export function assemble(
  topic: string,
  maxTokens: number,
  found: readonly SourceResult[],
  tokens: TokenCounter,
  options: AssembleOptions = {},
): Assembled {
  const { snippetChars = 600 } = options;
  const budget = createBudget(tokens, maxTokens);
  const { candidates, weights, unrelated, duplicate } = score(topic, found);
  const size = chooseFrame(topic, found, budget);
  const all = new Map(found.map((result) => [result.name, result.status === "answered" ? result.hits.length : 0]));
  const frame = budget.count(
    `${headerOf(topic, maxTokens, maxTokens, tokens.name, size)}\n${footerOf(found, all, size)}`,
  );
  const placed = fill(inOrder(candidates), maxTokens - frame - 2, budget, { weights, snippetChars, titleChars });
  const { header, footer, used } = settle(topic, found, placed, budget, size);
  const hits = placed.map(({ candidate, title, snippet }): AssembledHit => {
    const { ref, alsoAt, source, value, at, follow } = candidate;
    return {
      ref,
      alsoAt,
      source,
      title,
      snippet: snippet.text,
      truncated: snippet.truncated,
      value,
      ...(at !== undefined && { at }),
      ...(follow && { follow }),
    };
  });
  return {
    topic,
    maxTokens,
    usedTokens: used,
    tokenizer: tokens.name,
    dropped: { unrelated, duplicate, noRoom: candidates.length - hits.length },
    hits,
    sources: found.map((result) => sourceOf(result, hits)),
    header,
    footer,
  };
}

/** The most generous frame that leaves more than half of the room; where none does, the barest. */
function chooseFrame(topic: string, found: readonly SourceResult[], budget: Budget): FrameSize {
  const all = new Map(found.map((result) => [result.name, result.status === "answered" ? result.hits.length : 0]));
  let chosen: FrameSize = { topic: 0, cause: 0, all: false };
  for (const size of frameSizes) {
    chosen = size;
    const header = headerOf(topic, budget.most, budget.most, budget.tokenizer, size);
    if (budget.count(`${header}\n${footerOf(found, all, size)}`) <= Math.max(budget.most / 2, budget.most - 1_000))
      break;
  }
  return chosen;
}

/** The best hit of each source that has one, then the rest by value. */
function inOrder(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  const first = candidates.filter(({ source }) => !seen.has(source) && seen.add(source));
  return [...first, ...candidates.filter((candidate) => !first.includes(candidate))];
}

/**
 * Counts the finished text, which says its own count, and drops the last hit until it fits: counts of parts do not add up.
 */
function settle(
  topic: string,
  found: readonly SourceResult[],
  placed: Placed[],
  budget: Budget,
  size: FrameSize,
): { header: string; footer: string; used: number } {
  placed.sort((a, b) => better(a.candidate, b.candidate));
  for (;;) {
    const shown = new Map<string, number>();
    for (const { candidate } of placed) shown.set(candidate.source, (shown.get(candidate.source) ?? 0) + 1);
    const footer = footerOf(found, shown, size);
    const hits = placed.map(({ shown }) => shown);
    let used = 0;
    let header = "";
    // A longer number may take one token more; it never takes less, so this ends.
    for (let round = 0; round < 8; round++) {
      header = headerOf(topic, used, budget.most, budget.tokenizer, size);
      const counted = budget.count(renderContext(header, hits, footer));
      if (counted === used) break;
      used = counted;
    }
    if (used <= budget.most && budget.holds(renderContext(header, hits, footer))) return { header, footer, used };
    if (placed.pop() === undefined) return bare(footer, budget);
  }
}

/** Where not even the barest frame fits: as much of it as does. */
function bare(footer: string, budget: Budget): { header: string; footer: string; used: number } {
  for (let chars = footer.length; ; chars = Math.floor(chars / 2)) {
    const line = chars === 0 ? "" : cutLine(footer, chars);
    const used = budget.count(`# Context\n${line}`);
    if (used <= budget.most || chars === 0) return { header: "# Context", footer: line, used };
  }
}

function sourceOf(result: SourceResult, hits: readonly AssembledHit[]): AssembledSource {
  const { name, durationMs } = result;
  const shown = hits.filter(({ source }) => source === name).length;
  switch (result.status) {
    case "answered": {
      const found = result.hits.length;
      const { note } = result;
      return {
        name,
        status: found > 0 ? "ok" : "empty",
        found,
        shown,
        ...(note !== undefined && { note }),
        durationMs,
      };
    }
    case "failed": {
      const { code, message } = result.error;
      return { name, status: "failed", found: 0, shown, error: { code, message }, durationMs };
    }
    case "not_configured": {
      const error = { code: "unsupported", message: `no source "${name}" is configured` };
      return { name, status: "not_configured", found: 0, shown, error, durationMs };
    }
  }
}
