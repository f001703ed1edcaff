import type { Document, ParentNode } from "domhandler";
import { density, type Mass, masses, recordGroups, runningSum, sumOf, topCandidate } from "./block-mass.ts";
import {
  depths,
  far,
  headingAbove,
  hintDistances,
  ownTag,
  ownTags,
  sectionTags,
  shapeOf,
  tagDistances,
} from "./block-places.ts";
import {
  askWords,
  bylineWords,
  calls,
  copyright,
  emptyStat,
  jaccard,
  noWords,
  relatedWords,
  share,
  textStats,
  wordSet,
} from "./block-words.ts";
import type { Block } from "./blocks.ts";
import { hintNames, hintReader } from "./hints.ts";

/** What is known of the page before its blocks are judged. */
export interface PageClues {
  url: string;
  title: string;
  description: string;
  /** Long texts of JSON-LD and microdata, lower case. */
  dataText: string;
  /** Named yes/no and count clues about the kind of page. */
  clues: Readonly<Record<string, number>>;
}

const tagNames = sectionTags.map((name) => `in.${name}`);

const hintLabels = hintNames.map((name) => `hint.${name}`);

const upNames = [0, 1, 2, 3, 4].map((step) => ({
  share: `up${step}.share`,
  linkDensity: `up${step}.linkDensity`,
  blocks: `up${step}.blocks`,
  sentences: `up${step}.sentences`,
  blockLength: `up${step}.blockLength`,
  place: `up${step}.place`,
}));

export interface BlockFeatures {
  names: string[];
  /** One row of numbers for each block, in the order of `names`. */
  rows: Float32Array[];
  /** For each block the numbers of the groups it is in, in the order of `groupNames`; -1 is none. */
  groups: Int32Array[];
}

export const groupNames = [
  "up0",
  "up1",
  "up2",
  "up3",
  "up4",
  "half",
  "quarter",
  "tenth",
  "record",
  "records",
  "shape",
  "shapeLoose",
  "under",
] as const;

export function blockFeatures(document: Document, blocks: readonly Block[], page: PageClues): BlockFeatures {
  const groups = blocks.map(() => new Int32Array(groupNames.length).fill(-1));
  const numberOf = numbering();
  const shapes = blocks.map((block) => [shapeOf(block.owner, 4, true), shapeOf(block.owner, 3, false)] as const);
  const shapeTotals = new Map<string, { count: number; length: number; linkLength: number }>();
  shapes.forEach(([shape], index) => {
    const held = shapeTotals.get(shape) ?? { count: 0, length: 0, linkLength: 0 };
    held.count += 1;
    held.length += blocks[index]?.text.length ?? 0;
    held.linkLength += blocks[index]?.linkLength ?? 0;
    shapeTotals.set(shape, held);
  });
  const depth = depths(blocks);
  const readHints = hintReader();
  const total = blocks.reduce((sum, block) => sum + block.text.length, 0) || 1;
  const stats = blocks.map(textStats);
  const mass = masses(blocks, stats);
  const top = topCandidate(mass);
  const topChain = new Map<ParentNode, number>();
  if (top) for (let node: ParentNode | null = top, up = 0; node; node = node.parent, up += 1) topChain.set(node, up);
  const topScore = top ? (mass.get(top)?.score ?? 1) : 1;
  const records = recordGroups(document, mass);
  const hintsOf = hintDistances(readHints);
  const tagsOf = tagDistances();
  const titleWords = wordSet(page.title);
  const descriptionWords = wordSet(page.description);
  const sameText = new Map<string, number>();
  for (const { text } of blocks) sameText.set(text, (sameText.get(text) ?? 0) + 1);
  const headingAt = blocks.findIndex((block) => ownTag(block) === "h1");
  const bestTitle = blocks.reduce(
    (best, block, index) => {
      if (block.text.length > 200) return best;
      const overlap = jaccard(wordSet(block.text), titleWords);
      return overlap > best.overlap ? { overlap, index } : best;
    },
    { overlap: 0.3, index: -1 },
  ).index;
  const anchor = headingAt >= 0 ? headingAt : bestTitle;
  const lengths = blocks.map((block) => block.text.length);
  const before = runningSum(lengths);
  const pageRow: [string, number][] = [
    ["page.length", Math.log1p(total)],
    ["page.blocks", Math.log1p(blocks.length)],
    ["page.linkDensity", blocks.reduce((sum, block) => sum + block.linkLength, 0) / total],
    ["page.sentenceShare", sumOf(stats, (stat, at) => (stat.sentence ? (lengths[at] ?? 0) : 0)) / total],
    ["page.priceBlocks", Math.log1p(stats.filter((stat) => stat.price).length)],
    ["page.dateBlocks", Math.log1p(stats.filter((stat) => stat.date).length)],
    ["page.topShare", top ? (mass.get(top)?.length ?? 0) / total : 0],
    ["page.topLinkDensity", top ? density(mass.get(top)) : 0],
    ["page.codeBlocks", Math.log1p(blocks.filter((block) => tagsOf(block.owner)[14] === 0).length)],
    ...Object.entries(page.clues).map(([name, value]): [string, number] => [`page.${name}`, value]),
  ];

  const names: string[] = [];
  const add = (name: string, value: number): void => {
    if (naming) names.push(name);
    row[cursor] = value;
    cursor += 1;
  };
  let row = new Float32Array(400);
  let cursor = 0;
  let naming = true;
  const rows = blocks.map((block, index) => {
    const stat = stats[index] ?? emptyStat;
    row = new Float32Array(naming ? 400 : names.length);
    cursor = 0;
    const words = block.text.length < 600 ? wordSet(block.text) : noWords;
    const inGroups = groups[index] ?? new Int32Array(0);
    const [shape, looseShape] = shapes[index] ?? ["", ""];
    inGroups[10] = numberOf(`s ${shape}`);
    inGroups[11] = numberOf(`l ${looseShape}`);
    const shapeTotal = shapeTotals.get(shape);
    add("shape.count", Math.log1p(shapeTotal?.count ?? 0));
    add("shape.share", (shapeTotal?.length ?? 0) / total);
    add("shape.each", Math.log1p((shapeTotal?.length ?? 0) / (shapeTotal?.count ?? 1)));
    add("shape.linkDensity", shapeTotal?.length ? shapeTotal.linkLength / shapeTotal.length : 0);
    const length = block.text.length;
    const tag = ownTag(block);
    add("own.length", Math.log1p(length));
    add("own.words", stat.words);
    add("own.linkDensity", length ? block.linkLength / length : block.links > 0 ? 1 : 0);
    add("own.links", block.links);
    add("own.images", block.images);
    add("own.strong", length ? block.strongLength / length : 0);
    add("own.control", length ? block.controlLength / length : 0);
    add("own.wordLength", stat.wordLength);
    add("own.stopwords", stat.stopShare);
    add("own.commas", stat.commas);
    add("own.endsSentence", stat.ends);
    add("own.sentence", stat.sentence ? 1 : 0);
    add("own.digits", stat.digits);
    add("own.upper", stat.upper);
    add("own.colonEnd", block.text.endsWith(":") ? 1 : 0);
    add("own.question", block.text.endsWith("?") ? 1 : 0);
    add("own.price", stat.price ? 1 : 0);
    add("own.date", stat.date ? 1 : 0);
    add("own.copyright", copyright.test(block.text) ? 1 : 0);
    add("own.call", calls.test(block.text) ? 1 : 0);
    add("own.ask", askWords.test(block.text) ? 1 : 0);
    add("own.related", relatedWords.test(block.text) ? 1 : 0);
    add("own.byline", bylineWords.test(block.text) ? 1 : 0);
    add("own.separators", stat.separators);
    add("own.repeats", Math.min(10, sameText.get(block.text) ?? 1));
    add("own.title", jaccard(words, titleWords));
    add("own.inDescription", share(words, descriptionWords));
    add(
      "own.inData",
      page.dataText.length > 100 && stat.words >= 4 ? (page.dataText.includes(stat.probe) ? 1 : 0) : -1,
    );
    add("own.tag", ownTags.indexOf(tag));
    add("own.heading", /^h[1-6]$/.test(tag) ? Number(tag[1]) : 0);
    add("at.share", (before[index] ?? 0) / total);
    add("at.index", index / blocks.length);
    add("at.first", Math.min(200, index));
    add("at.fromEnd", Math.min(200, blocks.length - 1 - index));
    add("at.fromHeading", anchor < 0 ? -300 : Math.max(-100, Math.min(200, index - anchor)));
    add("at.charsFromHeading", anchor < 0 ? -2 : ((before[index] ?? 0) - (before[anchor] ?? 0)) / total);
    add("at.depth", depth.get(block.owner) ?? 0);

    const tagDistance = tagsOf(block.owner);
    for (let at = 0; at < sectionTags.length; at += 1) add(tagNames[at] ?? "", tagDistance[at] ?? far);
    const hintDistance = hintsOf(block.owner);
    for (let at = 0; at < hintNames.length; at += 1) add(hintLabels[at] ?? "", hintDistance[at] ?? far);

    // The containers above: how much of the page they hold and how it reads.
    let lastMass: Mass | undefined;
    const chain: Mass[] = [];
    const chainNodes: ParentNode[] = [];
    let bestScore = 0;
    for (let node: ParentNode | null = block.owner; node; node = node.parent) {
      const held = mass.get(node);
      if (!held) continue;
      if (held.score > bestScore) bestScore = held.score;
      if (held.blocks !== lastMass?.blocks) {
        chain.push(held);
        chainNodes.push(node);
      }
      lastMass = held;
    }
    for (let step = 0; step < 5; step += 1) {
      const held = chain[step] ?? chain[chain.length - 1];
      inGroups[step] = numberOf(chainNodes[step] ?? chainNodes[chainNodes.length - 1] ?? "none");
      add(upNames[step]?.share ?? "", (held?.length ?? 0) / total);
      add(upNames[step]?.linkDensity ?? "", density(held));
      add(upNames[step]?.blocks ?? "", Math.log1p(held?.blocks ?? 0));
      add(upNames[step]?.sentences ?? "", held?.length ? held.sentenceLength / held.length : 0);
      add(upNames[step]?.blockLength ?? "", held?.blocks ? Math.log1p(held.length / held.blocks) : 0);
      add(upNames[step]?.place ?? "", held ? (index - held.first) / Math.max(1, held.last - held.first) : 0);
    }
    // From the page down: the last container that still holds most of it, and the part below that the block is in.
    for (const [name, bound, place] of [
      ["half", 0.5, 5],
      ["quarter", 0.25, 6],
      ["tenth", 0.1, 7],
    ] as const) {
      const at = chain.findIndex((held) => held.length / total >= bound);
      const held = chain[at];
      const below = chain[Math.max(0, at - 1)];
      inGroups[place] = numberOf(chainNodes[Math.max(0, at - 1)] ?? "none");
      add(`${name}.up`, at);
      add(`${name}.linkDensity`, density(held));
      add(`${name}.sentences`, held?.length ? held.sentenceLength / held.length : 0);
      add(`${name}.belowShare`, (below?.length ?? 0) / total);
      add(`${name}.belowLinkDensity`, density(below));
      add(`${name}.belowSentences`, below?.length ? below.sentenceLength / below.length : 0);
    }
    let away = far;
    let ups = 0;
    for (let node: ParentNode | null = block.owner; node; node = node.parent, ups += 1) {
      const found = topChain.get(node);
      if (found === undefined) continue;
      away = found;
      break;
    }
    add("top.away", away);
    add("top.below", ups);
    add("top.scoreRatio", bestScore / topScore);
    const record = records(block.owner);
    if (record.node) {
      inGroups[8] = numberOf(record.node);
      inGroups[9] = numberOf(record.group);
    }
    add("record.count", Math.log1p(record.count));
    add("record.up", record.up);
    add("record.share", record.length / total);
    add("record.each", Math.log1p(record.length / Math.max(1, record.count)));
    add("record.linkDensity", record.length ? record.linkLength / record.length : 0);
    add("record.sentences", record.length ? record.sentenceLength / record.length : 0);
    add("record.place", record.count ? record.place / record.count : 0);
    for (const step of [-3, -2, -1, 1, 2, 3]) {
      const other = blocks[index + step];
      const otherStat = stats[index + step] ?? emptyStat;
      const name = step < 0 ? `prev${-step}` : `next${step}`;
      add(`${name}.words`, other ? otherStat.words : -1);
      add(`${name}.linkDensity`, other?.text.length ? other.linkLength / other.text.length : -1);
      if (Math.abs(step) > 2) continue;
      add(`${name}.sentence`, otherStat.sentence ? 1 : 0);
      add(`${name}.heading`, other && /^h[1-6]$/.test(ownTag(other)) ? 1 : 0);
      add(`${name}.related`, other && relatedWords.test(other.text) ? 1 : 0);
      add(`${name}.sameOwner`, other && other.owner.parent === block.owner.parent ? 1 : 0);
    }
    // The heading that stands above says what the block belongs to.
    const heading = headingAbove(blocks, index);
    inGroups[12] = numberOf(`h ${heading}`);
    add("heading.back", heading < 0 ? 99 : Math.min(99, index - heading));
    add("heading.related", heading >= 0 && relatedWords.test(blocks[heading]?.text ?? "") ? 1 : 0);
    add("heading.level", heading < 0 ? 0 : Number(ownTag(blocks[heading] ?? block)[1]));
    for (const [name, value] of pageRow) add(name, value);
    if (naming) row = row.slice(0, names.length);
    naming = false;
    return row;
  });

  return { names, rows, groups };
}

function numbering(): (key: unknown) => number {
  const numbers = new Map<unknown, number>();
  return (key) => {
    const before = numbers.get(key);
    if (before !== undefined) return before;
    numbers.set(key, numbers.size);
    return numbers.size - 1;
  };
}
