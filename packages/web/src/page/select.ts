import { Element } from "domhandler";
import type { Block } from "./blocks.ts";

export interface Judged {
  block: Block;
  /** Chance that the block is wanted, 0 to 1. */
  chance: number;
  /** Words in it. */
  words: number;
}

/** Chances are sharpened a little less than they claim: missing a part costs more than a stray line. */
const softness = 0.9;
/** Blocks between two kept ones are kept from this part of the bound on. */
const bridge = 0.6;
/** A part of an article stands apart after this many dropped blocks or characters in a row. */
const gapBlocks = 4;
const gapLength = 200;
/** A part that stands apart stays when it is this sure, or holds this share of the best part's text. */
const sureApart = 0.7;
const shareApart = 0.5;

/**
 * Chooses the blocks with the best expected F1: in order of their chances until one more would cost more precision
 * than it brings recall.
 */
export function chooseBlocks(judged: readonly Judged[], articleChance: number): boolean[] {
  const bound = expectedBound(judged);
  const kept = judged.map(({ chance }) => chance >= bound);
  for (let at = 1; at + 1 < kept.length; at += 1)
    if (
      !kept[at] &&
      judged[at - 1] &&
      kept[at - 1] &&
      wasKept(judged[at + 1], bound) &&
      (judged[at]?.chance ?? 0) > bound * bridge
    )
      kept[at] = true;
  if (articleChance > 0.6) dropApart(judged, kept);
  keepCode(judged, kept);
  dropRepeats(judged, kept);
  return kept;
}

function wasKept(next: Judged | undefined, bound: number): boolean {
  return next !== undefined && next.chance >= bound;
}

function expectedBound(judged: readonly Judged[]): number {
  const list = judged
    .map(({ chance, words }) => ({ chance, words, soft: chance ** softness }))
    .sort((a, b) => b.chance - a.chance);
  const wanted = list.reduce((sum, { soft, words }) => sum + soft * words, 0);
  let hits = 0;
  let taken = 0;
  let best = -1;
  let bound = 1;
  for (const { chance, words, soft } of list) {
    hits += soft * words;
    taken += words;
    const f1 = taken > 0 ? (2 * hits) / (taken + wanted) : 0;
    if (f1 > best) {
      best = f1;
      bound = chance;
    }
  }
  return bound;
}

/** An article is one piece: what was kept far from it (comments, teasers) must be sure of itself. */
function dropApart(judged: readonly Judged[], kept: boolean[]): void {
  const parts: { from: number; to: number; length: number; wanted: number }[] = [];
  let gap = 0;
  let gapText = 0;
  judged.forEach(({ block, chance }, at) => {
    if (!kept[at]) {
      gap += 1;
      gapText += block.text.length;
      return;
    }
    let part = parts[parts.length - 1];
    if (!part || gap >= gapBlocks || gapText >= gapLength) {
      part = { from: at, to: at, length: 0, wanted: 0 };
      parts.push(part);
    }
    part.to = at;
    part.length += block.text.length;
    part.wanted += block.text.length * chance;
    gap = 0;
    gapText = 0;
  });
  const most = Math.max(0, ...parts.map(({ wanted }) => wanted));
  for (const { from, to, length, wanted } of parts) {
    if (wanted >= most * shareApart || wanted >= length * sureApart) continue;
    for (let at = from; at <= to; at += 1) kept[at] = false;
  }
}

/** Code has no sentences to be judged by: it stays with the prose beside it. */
function keepCode(judged: readonly Judged[], kept: boolean[]): void {
  judged.forEach(({ block: { owner } }, at) => {
    if (kept[at] || !(owner instanceof Element)) return;
    const pre =
      owner.name === "pre"
        ? owner
        : owner.parent instanceof Element && owner.parent.name === "pre"
          ? owner.parent
          : undefined;
    if (!pre) return;
    const before = judged[at - 1]?.block.owner.parent;
    if (kept[at - 1] && before === pre.parent) kept[at] = true;
  });
}

/** Pages carry copies of their text for other screens and for print. */
function dropRepeats(judged: readonly Judged[], kept: boolean[]): void {
  const seen = new Set<string>();
  judged.forEach(({ block: { text } }, at) => {
    if (!kept[at] || text.length < 60) return;
    if (seen.has(text)) kept[at] = false;
    seen.add(text);
  });
}
