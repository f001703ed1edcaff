import { type Document, Element, type ParentNode } from "domhandler";
import { far } from "./block-places.ts";
import { emptyStat, type Stat } from "./block-words.ts";
import type { Block } from "./blocks.ts";

/** Totals over everything inside an element. */
export interface Mass {
  length: number;
  linkLength: number;
  blocks: number;
  sentences: number;
  sentenceLength: number;
  score: number;
  first: number;
  last: number;
}

export function density(mass: Mass | undefined): number {
  return mass?.length ? mass.linkLength / mass.length : 0;
}

export function masses(blocks: readonly Block[], stats: readonly Stat[]): Map<ParentNode, Mass> {
  const map = new Map<ParentNode, Mass>();
  blocks.forEach((block, index) => {
    const stat = stats[index] ?? emptyStat;
    const worth =
      block.text.length < 25
        ? 0
        : (1 + stat.commas + Math.min(3, block.text.length / 100)) *
          (1 - block.linkLength / Math.max(1, block.text.length));
    let level = 0;
    for (let node: ParentNode | null = block.owner; node; node = node.parent, level += 1) {
      let held = map.get(node);
      if (!held) {
        held = {
          length: 0,
          linkLength: 0,
          blocks: 0,
          sentences: 0,
          sentenceLength: 0,
          score: 0,
          first: index,
          last: index,
        };
        map.set(node, held);
      }
      held.length += block.text.length;
      held.linkLength += block.linkLength;
      held.blocks += 1;
      held.last = index;
      if (stat.sentence) {
        held.sentences += 1;
        held.sentenceLength += block.text.length;
      }
      if (worth > 0 && level > 0) held.score += level === 1 ? worth : level === 2 ? worth / 2 : worth / (level * 3);
    }
  });
  for (const held of map.values()) held.score *= 1 - density(held);
  return map;
}

export function topCandidate(mass: ReadonlyMap<ParentNode, Mass>): ParentNode | undefined {
  let best: ParentNode | undefined;
  let score = 0;
  for (const [node, held] of mass)
    if (held.score > score) {
      score = held.score;
      best = node;
    }
  return best;
}

export interface RecordPlace {
  count: number;
  up: number;
  length: number;
  linkLength: number;
  sentenceLength: number;
  place: number;
  node: ParentNode | undefined;
  group: unknown;
}

const noRecord: RecordPlace = {
  count: 0,
  up: far,
  length: 0,
  linkLength: 0,
  sentenceLength: 0,
  place: 0,
  node: undefined,
  group: undefined,
};

/** Siblings of one shape (tag and first class), three or more with text: rows, cards, posts. */
export function recordGroups(
  document: Document,
  mass: ReadonlyMap<ParentNode, Mass>,
): (owner: ParentNode) => RecordPlace {
  const member = new Map<ParentNode, RecordPlace>();
  const visit = (node: ParentNode): void => {
    const shapes = new Map<string, Element[]>();
    for (const child of node.children) {
      if (!(child instanceof Element)) continue;
      if (mass.has(child)) {
        const shape = `${child.name} ${(child.attribs.class ?? "").split(/\s+/, 1)[0]}`;
        const list = shapes.get(shape);
        if (list) list.push(child);
        else shapes.set(shape, [child]);
        visit(child);
      }
    }
    for (const [shape, list] of shapes) {
      if (list.length < 3 || shape.startsWith("p ") || shape.startsWith("br")) continue;
      let length = 0;
      let linkLength = 0;
      let sentenceLength = 0;
      for (const element of list) {
        const held = mass.get(element);
        length += held?.length ?? 0;
        linkLength += held?.linkLength ?? 0;
        sentenceLength += held?.sentenceLength ?? 0;
      }
      for (const [place, element] of list.entries())
        member.set(element, {
          count: list.length,
          up: 0,
          length,
          linkLength,
          sentenceLength,
          place,
          node: element,
          group: list,
        });
    }
  };
  visit(document);
  return (owner) => {
    let up = 0;
    for (let node: ParentNode | null = owner; node; node = node.parent, up += 1) {
      const found = member.get(node);
      if (found) return { ...found, up: Math.min(far, up) };
    }
    return noRecord;
  };
}

/** Sums of all before each place. */
export function runningSum(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    const before = sum;
    sum += value;
    return before;
  });
}

export function sumOf<T>(list: readonly T[], value: (item: T, index: number) => number): number {
  return list.reduce((sum, item, index) => sum + value(item, index), 0);
}
