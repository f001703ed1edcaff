import { type Document, Element, type ParentNode } from "domhandler";
import { type Block, cutBlocks } from "./blocks.ts";
import { findClues } from "./clues.ts";
import { contentHtml } from "./content-html.ts";
import { dataArticle } from "./data-article.ts";
import { blockFeatures, type PageClues } from "./features.ts";
import { forestCache } from "./forest.ts";
import { harvestData } from "./harvest.ts";
import { codeText } from "./markdown/code.ts";
import { titleLine, toMarkdown } from "./markdown/markdown.ts";
import { foldMath } from "./markdown/math.ts";
import { adoptNoscriptImages, baseOf } from "./markdown/media.ts";
import { prepare } from "./markdown/prepare.ts";
import { readMetadata } from "./metadata.ts";
import { pageFeatures } from "./page-features.ts";
import { parseHtml } from "./parse.ts";
import { parsePage } from "./parse-page.ts";
import { keptTree } from "./prune.ts";
import { completeRecords, inMargin, isPlainPage } from "./records.ts";
import { chooseBlocks, type Judged } from "./select.ts";
import {
  type CandidateName,
  type Extracted,
  type ExtractOptions,
  type PageNote,
  type PageType,
  pageTypes,
} from "./types.ts";
import { judgeVisibility, type Visibility } from "./visibility.ts";
import { blockWeights } from "./weights/blocks.ts";
import { typeWeights } from "./weights/types.ts";

/** Weights other than the built-in ones, for benches. */
export interface Weights {
  blocks: typeof blockWeights;
  types: typeof typeWeights;
}

/** Blocks that are judged one by one; a page of more is taken as it is. */
const mostBlocks = 6_000;

/**
 * Finds the main content of an HTML page and gives it as Markdown, text and clean HTML, with title, author, dates and
 * the kind of page. Pure: nothing is fetched, no script of the page runs.
 *
 * @throws TooManyNodesError over 300,000 nodes
 * @example
 * const { markdown, title } = extractPage(html, { url: "https://example.org/post" });
 */
export function extractPage(html: string, options: ExtractOptions): Extracted {
  return extractFrom(parsePage(html, options), html.length, options, { blocks: blockWeights, types: typeWeights });
}

/** As {@link extractPage}, on a parsed page, with given weights. The document is changed. */
export function extractFrom(
  document: Document,
  sourceLength: number,
  options: ExtractOptions,
  weights: Weights,
): Extracted {
  const base = baseOf(document, options.url);
  const data = harvestData(document);
  const metadata = readMetadata(document, data, options.url, base);
  const clues = findClues(document, options.url);
  foldMath(document);
  adoptNoscriptImages(document);
  const visibility = judgeVisibility(document);
  const blocks = cutBlocks(document, visibility.skip);
  const notes = visibilityNotes(visibility);
  const texts = blocks.filter(({ text }) => text !== "");
  const visibleLength = texts.reduce((sum, { text }) => sum + text.length, 0);

  const choice = blocks.length > mostBlocks ? choosePlain(blocks) : choose(document, blocks, clues, options, weights);
  const { type, confidence, kept, extra, used } = choice;
  const onlyArticle = options.only === "article";
  const mainText = blocks.filter((_, at) => kept[at]);
  const shell = sourceLength >= 10_000 && (visibleLength < 200 || visibleLength < 0.004 * sourceLength);
  const found = shell || mainText.length === 0 ? dataArticle(data, onlyArticle) : undefined;
  if (found && found.length > 2 * lengthOf(mainText))
    return fromData(found, options, { type, confidence, metadata, data, notes });

  const shown = kept.map((keep, at) => keep || extra[at] === true);
  keepPictures(blocks, shown);
  const tree = keptTree(
    document,
    new Set(blocks.flatMap(({ nodes }, at) => (shown[at] ? nodes : []))),
    visibility.skip,
  );
  prepare(tree);
  const context = { base, url: options.url, skip: visibility.skip };
  const body = toMarkdown(tree, context);
  return {
    type: onlyArticle ? "article" : type,
    confidence,
    title: metadata.title,
    html: contentHtml(tree, context),
    text: blocks.flatMap((block, at) => (kept[at] && block.text !== "" ? [blockText(block)] : [])).join("\n"),
    markdown: withTitle(body, metadata.title),
    metadata,
    data,
    used,
    mayNeedJavaScript: shell && !found,
    notes,
  };
}

interface Choice {
  type: PageType;
  confidence: number;
  /** The main content. */
  kept: boolean[];
  /** What Markdown and HTML show beside it: who wrote a post and when. */
  extra: boolean[];
  used: CandidateName;
}

function choose(
  document: Document,
  blocks: readonly Block[],
  clues: PageClues,
  options: ExtractOptions,
  weights: Weights,
): Choice {
  const features = blockFeatures(document, blocks, clues);
  const { type, confidence, chances } = judgeType(features, blocks, weights);
  const judged = judgeBlocks(features, blocks, chances, weights);
  const none = blocks.map(() => false);
  if (options.only === "article") {
    const kept = chooseBlocks(judged, 1);
    return {
      type: "article",
      confidence,
      kept: readsAsArticle(judged, kept) ? kept : none,
      extra: none,
      used: "blocks",
    };
  }
  if (isPlainPage(blocks)) return { type, confidence, kept: blocks.map(() => true), extra: none, used: "body" };
  const chosen = chooseBlocks(judged, chances[0] ?? 0);
  const { kept, extra, changed } = completeRecords(judged, chosen, features.groups, chances, options.keepComments);
  return { type, confidence, kept, extra, used: changed ? "records" : "blocks" };
}

/** So many blocks that judging each would take too long: everything outside navigation. */
function choosePlain(blocks: readonly Block[]): Choice {
  return {
    type: "listing",
    confidence: 0,
    kept: blocks.map((block) => !inMargin(block)),
    extra: blocks.map(() => false),
    used: "landmark",
  };
}

function visibilityNotes({ hiddenKept, hiddenLength }: Visibility): PageNote[] {
  if (hiddenKept)
    return [{ code: "hidden_text_kept", message: "nearly all text is hidden until scripts run; it was kept" }];
  if (hiddenLength >= 20)
    return [
      { code: "hidden_text_dropped", message: `${hiddenLength} characters that a reader cannot see were left out` },
    ];
  return [];
}

const forestOf = forestCache();

type Features = ReturnType<typeof blockFeatures>;

function judgeType(
  { rows, names, groups }: Features,
  blocks: readonly Block[],
  weights: Weights,
): { type: PageType; confidence: number; chances: number[] } {
  if (rows.length === 0) return { type: "article", confidence: 0, chances: pageTypes.map(() => 1 / pageTypes.length) };
  const page = pageFeatures(
    rows,
    blocks.map(({ text }) => text.length),
    names,
    groups,
  );
  const raw = pageTypes.map((type) => forestOf(weights.types[type], () => page.names).chance(page.values));
  const sum = raw.reduce((total, chance) => total + chance, 0) || 1;
  const chances = raw.map((chance) => chance / sum);
  const best = chances.indexOf(Math.max(...chances));
  return { type: pageTypes[best] ?? "article", confidence: chances[best] ?? 0, chances };
}

function judgeBlocks(
  { rows, names }: Features,
  blocks: readonly Block[],
  chances: readonly number[],
  weights: Weights,
): Judged[] {
  if (rows.length === 0) return [];
  const forest = forestOf(weights.blocks, () => [...names, ...pageTypes.map((type) => `type.${type}`)]);
  return blocks.map((block, at) => ({
    block,
    chance: forest.chance(rows[at] ?? [], chances),
    words: countWords(block.text),
  }));
}

function countWords(text: string): number {
  return text.match(/[\p{L}\p{N}\p{M}_]+/gu)?.length ?? 0;
}

function lengthOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, { text }) => sum + text.length, 0);
}

/** Prose of some length that the judgement is sure of. */
function readsAsArticle(judged: readonly Judged[], kept: readonly boolean[]): boolean {
  let prose = 0;
  let length = 0;
  judged.forEach(({ block, chance, words }, at) => {
    if (!kept[at]) return;
    length += block.text.length;
    if (chance >= 0.5 && words >= 8 && block.linkLength < 0.5 * block.text.length && /[.!?。！？…]/.test(block.text))
      prose += block.text.length;
  });
  return prose >= 200 && prose >= 0.4 * length;
}

/** Pictures have no words to be judged by: one between two kept blocks is kept. */
function keepPictures(blocks: readonly Block[], kept: boolean[]): void {
  blocks.forEach(({ text, images }, at) => {
    if (text !== "") return;
    kept[at] = images > 0 && nearest(blocks, kept, at, -1) && nearest(blocks, kept, at, 1);
  });
}

function nearest(blocks: readonly Block[], kept: readonly boolean[], from: number, step: -1 | 1): boolean {
  for (let at = from + step; at >= 0 && at < blocks.length; at += step)
    if (blocks[at]?.text !== "") return kept[at] === true;
  return false;
}

/** Code keeps its lines in plain text too. */
function blockText(block: Block): string {
  for (let node: ParentNode | null = block.owner; node instanceof Element; node = node.parent)
    if (node.name === "pre") return codeText(node);
  return block.text;
}

function withTitle(markdown: string, title: string | undefined): string {
  if (title === undefined || markdown === "") return markdown;
  const fold = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "");
  const wanted = fold(title);
  const lines = markdown.slice(0, 4_000).split("\n").slice(0, 40);
  const at = lines.findIndex((line) => fold(line) === wanted);
  if (wanted === "" || at >= 0) return markdown;
  return `${titleLine(title)}\n\n${markdown}`;
}

function fromData(
  text: string,
  options: ExtractOptions,
  rest: Pick<Extracted, "type" | "confidence" | "metadata" | "data" | "notes">,
): Extracted {
  // The text of embedded data may be HTML or plain lines.
  const source = /<(?:p|div|br|h[1-6]|ul|ol|table)\b/i.test(text)
    ? text
    : text
        .split(/\n{1,}/)
        .map((line) => `<p>${line.replace(/&/g, "&amp;").replace(/</g, "&lt;")}</p>`)
        .join("");
  const tree = parseHtml(source);
  const { skip } = judgeVisibility(tree);
  prepare(tree);
  const context = { base: options.url, url: options.url, skip };
  const blocks = cutBlocks(tree, skip);
  return {
    ...rest,
    title: rest.metadata.title,
    html: contentHtml(tree, context),
    text: blocks
      .map(blockText)
      .filter((line) => line !== "")
      .join("\n"),
    markdown: withTitle(toMarkdown(tree, context), rest.metadata.title),
    used: "data",
    mayNeedJavaScript: false,
  };
}
