import { type Document, Element, type ParentNode } from "domhandler";
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

const far = 24;
const sectionTags = [
  "main",
  "article",
  "section",
  "nav",
  "header",
  "footer",
  "aside",
  "form",
  "table",
  "ul",
  "ol",
  "dl",
  "figure",
  "blockquote",
  "pre",
  "details",
  "button",
  "label",
  "tr",
  "p",
  "li",
] as const;
const ownTags = [
  "p",
  "li",
  "h1",
  "h2",
  "h3",
  "h4",
  "h5",
  "h6",
  "td",
  "th",
  "div",
  "span",
  "a",
  "pre",
  "dt",
  "dd",
  "figcaption",
  "blockquote",
  "button",
  "label",
  "section",
  "article",
];

const priceWords = /(?:[$€£¥₹]|usd|eur|gbp|kr\.?)\s?\d|\d[\d.,]*\s?(?:[$€£¥₹]|usd|eur|gbp|kr\b|zł)/i;
const dateWords =
  /\b(?:19|20)\d\d\b|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d|\d+\s+(?:second|minute|hour|day|week|month|year)s?\s+ago|\b\d{1,2}[./-]\d{1,2}[./-]\d{2,4}\b/i;
const copyright = /©|\(c\)\s*\d|copyright|all rights reserved|terms (?:of|and|&)|privacy policy/i;
const calls =
  /^(?:read|learn|see|view|show|load|find|shop|discover|explore|get|buy|add|sign|log|subscribe|download|share|follow|reply|click|skip|back|next|previous|join|register|start|try|contact|continue|watch|more)\b/i;
const askWords =
  /cookie|subscribe|newsletter|sign up|sign in|log in|your email|e-mail address|javascript|ad ?block|captcha|consent/i;
const relatedWords =
  /^(?:related|recommended|you (?:may|might)|more (?:from|in|on|stories|articles|like)|read (?:more|next|also)|see also|also (?:on|read)|popular|trending|latest|most (?:read|popular|viewed)|similar|customers|people also|recent(?:ly)?|share|comments?|leave a|tags?|filed under|about the author|further reading|references|footnotes|table of contents|on this page|in this article|contents|sponsored|advertisement|follow us|what to read|up next|keep reading|explore)\b/i;
const bylineWords =
  /^(?:by|from|written by|posted|published|updated|last (?:updated|modified|edited)|photo|image|source|credit|author|edited|reviewed)\b/i;
const stopwords = new Set(
  "the of and to in a is that for it with as was on are be this by at from or an have not but they you we his her their can will which one all has had its more when if there been who would about into than your our de la le les et en des du un une que el los las y se por der die das und ist von zu den mit für nicht ein eine dem auf di il e che per una del non och att det som en på av i is van het een dat op te".split(
    " ",
  ),
);

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

/** Totals over everything inside an element. */
interface Mass {
  length: number;
  linkLength: number;
  blocks: number;
  sentences: number;
  sentenceLength: number;
  score: number;
  first: number;
  last: number;
}

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

/** Tags, and classes where wanted, of the containers just above: blocks of one shape share a fate. */
function shapeOf(owner: ParentNode, levels: number, withClass: boolean): string {
  let shape = "";
  let node: ParentNode | null = owner;
  for (let level = 0; level < levels && node instanceof Element; level += 1, node = node.parent)
    shape += `${node.name}${withClass ? `.${(node.attribs.class ?? "").split(/\s+/, 1)[0]}` : ""}>`;
  return shape;
}

interface Stat {
  words: number;
  wordLength: number;
  stopShare: number;
  commas: number;
  ends: number;
  sentence: boolean;
  digits: number;
  upper: number;
  price: boolean;
  date: boolean;
  separators: number;
  /** A run of words to look for in the page's data. */
  probe: string;
}

const noWords: ReadonlySet<string> = new Set();
const emptyStat: Stat = {
  words: 0,
  wordLength: 0,
  stopShare: 0,
  commas: 0,
  ends: 0,
  sentence: false,
  digits: 0,
  upper: 0,
  price: false,
  date: false,
  separators: 0,
  probe: "",
};

function textStats({ text }: Block): Stat {
  const list = text.match(/[\p{L}\p{N}\p{M}_]+/gu) ?? [];
  // Scripts without blanks between words: about two characters carry what a word does.
  const dense = (text.match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]/gu) ?? []).length;
  const words = list.length + Math.floor(dense / 2);
  let stops = 0;
  let letters = 0;
  let digits = 0;
  let uppers = 0;
  for (const word of list) {
    letters += word.length;
    if (stopwords.has(word.toLowerCase())) stops += 1;
    if (/^\d/.test(word)) digits += 1;
    else if (/^\p{Lu}/u.test(word)) uppers += 1;
  }
  const ends = /[.!?。！？…]["'”’»)\]]?$/u.test(text) ? 1 : /[.!?。！？]\s/u.test(text) ? 0.5 : 0;
  return {
    words,
    wordLength: list.length ? letters / list.length : 0,
    stopShare: list.length ? stops / list.length : 0,
    commas: (text.match(/[,、，;；]/g) ?? []).length,
    ends,
    sentence: words >= 8 && ends > 0,
    digits: list.length ? digits / list.length : 0,
    upper: list.length ? uppers / list.length : 0,
    price: priceWords.test(text),
    date: text.length < 400 && dateWords.test(text),
    separators: (text.match(/[|•·»›/]/g) ?? []).length,
    probe: text.slice(0, 60).toLowerCase(),
  };
}

function density(mass: Mass | undefined): number {
  return mass?.length ? mass.linkLength / mass.length : 0;
}

function masses(blocks: readonly Block[], stats: readonly Stat[]): Map<ParentNode, Mass> {
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

function topCandidate(mass: ReadonlyMap<ParentNode, Mass>): ParentNode | undefined {
  let best: ParentNode | undefined;
  let score = 0;
  for (const [node, held] of mass)
    if (held.score > score) {
      score = held.score;
      best = node;
    }
  return best;
}

interface RecordPlace {
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
function recordGroups(document: Document, mass: ReadonlyMap<ParentNode, Mass>): (owner: ParentNode) => RecordPlace {
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

function hintDistances(read: (element: Element) => readonly number[]): (owner: ParentNode) => Uint8Array {
  const known = new Map<ParentNode, Uint8Array>();
  const visit = (node: ParentNode): Uint8Array => {
    const before = known.get(node);
    if (before) return before;
    const row = node.parent
      ? Uint8Array.from(visit(node.parent), (value) => Math.min(far, value + 1))
      : new Uint8Array(hintNames.length).fill(far);
    if (node instanceof Element && node.name !== "body" && node.name !== "html")
      for (const index of read(node)) row[index] = 0;
    known.set(node, row);
    return row;
  };
  return visit;
}

function tagDistances(): (owner: ParentNode) => Uint8Array {
  const known = new Map<ParentNode, Uint8Array>();
  const places = new Map<string, number>(sectionTags.map((name, index) => [name, index]));
  const roles: Readonly<Record<string, string>> = {
    navigation: "nav",
    banner: "header",
    contentinfo: "footer",
    complementary: "aside",
    main: "main",
    article: "article",
    search: "form",
    list: "ul",
    listitem: "li",
    button: "button",
  };
  const visit = (node: ParentNode): Uint8Array => {
    const before = known.get(node);
    if (before) return before;
    const row = node.parent
      ? Uint8Array.from(visit(node.parent), (value) => Math.min(far, value + 1))
      : new Uint8Array(sectionTags.length).fill(far);
    if (node instanceof Element) {
      const place = places.get(node.name);
      if (place !== undefined) row[place] = 0;
      const role = places.get(roles[node.attribs.role ?? ""] ?? "");
      if (role !== undefined) row[role] = 0;
    }
    known.set(node, row);
    return row;
  };
  return visit;
}

function depths(blocks: readonly Block[]): Map<ParentNode, number> {
  const map = new Map<ParentNode, number>();
  const visit = (node: ParentNode): number => {
    const before = map.get(node);
    if (before !== undefined) return before;
    const depth = node.parent ? visit(node.parent) + 1 : 0;
    map.set(node, depth);
    return depth;
  };
  for (const block of blocks) visit(block.owner);
  return map;
}

function ownTag(block: Block): string {
  for (let node: ParentNode | null = block.owner; node; node = node.parent)
    if (node instanceof Element) {
      if (node.name === "span" || node.name === "strong" || node.name === "b" || node.name === "em") continue;
      if (
        (node.name === "a" || node.name === "div") &&
        node.parent instanceof Element &&
        /^(?:h[1-6]|li)$/.test(node.parent.name)
      )
        return node.parent.name;
      return node.name;
    }
  return "";
}

function headingAbove(blocks: readonly Block[], index: number): number {
  for (let at = index - 1; at >= 0 && at > index - 99; at -= 1) {
    const block = blocks[at];
    if (block && /^h[1-6]$/.test(ownTag(block))) return at;
  }
  return -1;
}

function wordSet(text: string): Set<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}\p{M}_]+/gu) ?? []);
}

function jaccard(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0 || a.size > 60) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both / (a.size + b.size - both);
}

function share(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size < 3 || b.size === 0) return 0;
  let both = 0;
  for (const word of a) if (b.has(word)) both += 1;
  return both / a.size;
}

function runningSum(values: readonly number[]): number[] {
  let sum = 0;
  return values.map((value) => {
    const before = sum;
    sum += value;
    return before;
  });
}

function sumOf<T>(list: readonly T[], value: (item: T, index: number) => number): number {
  return list.reduce((sum, item, index) => sum + value(item, index), 0);
}
