import { Element, type ParentNode } from "domhandler";
import type { Block } from "./blocks.ts";
import { classNames } from "./dom.ts";
import { groupNames } from "./features.ts";
import type { Judged } from "./select.ts";
import { pageTypes } from "./types.ts";

/** A page too short and too plain to have anything but content. */
export function isPlainPage(blocks: readonly Block[]): boolean {
  const length = blocks.reduce((sum, { text }) => sum + text.length, 0);
  if (length > 1_500 || blocks.length > 15) return false;
  return blocks.every((block) => !inMargin(block) && (block.linkLength < block.text.length || block.text.length < 2));
}

const marginTags = new Set(["nav", "header", "footer", "aside", "form", "dialog", "button"]);
const marginRoles = new Set(["navigation", "banner", "contentinfo", "complementary", "search", "dialog", "menu"]);

/** Whether a block stands in navigation, page head or foot, a form or an aside. */
export function inMargin({ owner }: Block): boolean {
  for (let node: ParentNode | null = owner; node; node = node.parent) {
    if (!(node instanceof Element)) continue;
    if (node.name === "main" || node.name === "article") return false;
    if (marginTags.has(node.name) || marginRoles.has(node.attribs.role ?? "")) return true;
  }
  return false;
}

const recordAt = groupNames.indexOf("record");
const familyAt = groupNames.indexOf("records");
const forumAt = pageTypes.indexOf("forum");
const listAt = [pageTypes.indexOf("listing"), pageTypes.indexOf("collection")];

interface Family {
  records: Map<number, number[]>;
  length: number;
  keptLength: number;
  wanted: number;
}

/**
 * Records of one shape belong together. On a list page with hardly any text of its own the records are the content;
 * in a thread, who wrote a post and when is shown with it.
 */
export function completeRecords(
  judged: readonly Judged[],
  chosen: readonly boolean[],
  groups: readonly Int32Array[],
  chances: readonly number[],
  keepComments: boolean | undefined,
): { kept: boolean[]; extra: boolean[]; changed: boolean } {
  const kept = [...chosen];
  const extra = judged.map(() => false);
  const families = familiesOf(judged, chosen, groups);
  const keptLength = judged.reduce((sum, { block }, at) => sum + (chosen[at] ? block.text.length : 0), 0);
  let changed = false;
  const listChance = listAt.reduce((sum, at) => sum + (chances[at] ?? 0), 0);
  const largest = [...families].sort((a, b) => b.length - a.length)[0];
  if (largest && largest.records.size >= 6 && listChance > 0.3) {
    const besides = keptLength - largest.keptLength;
    const sparse = largest.keptLength < 0.6 * largest.length;
    if (sparse && besides < 0.5 * largest.length && besides < 1_500) {
      for (const blocks of largest.records.values()) for (const at of blocks) kept[at] = true;
      changed = true;
    }
  }
  // Where cards fill the page, prose after the last of them that speaks of terms is the small print.
  if (largest && largest.records.size >= 6 && listChance > 0.3) {
    const last = Math.max(...[...largest.records.values()].flat());
    judged.forEach(({ block }, at) => {
      if (at > last && kept[at] && (inMargin(block) || isSmallPrint(block))) {
        kept[at] = false;
        changed = true;
      }
    });
  }
  const isThread = keepComments ?? (chances[forumAt] ?? 0) > 0.4;
  if (isThread)
    for (const family of families)
      if (family.records.size >= 2 && family.keptLength > 0.3 * family.length && family.keptLength > 0.15 * keptLength)
        for (const blocks of family.records.values()) {
          const texts = blocks.filter((at) => kept[at]);
          // A post so short that it was taken for furniture is still a post of this thread.
          if (texts.length === 0) for (const at of blocks) kept[at] = isSpeech(judged[at]);
          for (const at of blocks) if (!kept[at] && isByline(judged[at])) extra[at] = true;
        }
  return { kept, extra, changed };
}

function familiesOf(judged: readonly Judged[], chosen: readonly boolean[], groups: readonly Int32Array[]): Family[] {
  const families = new Map<number, Family>();
  judged.forEach(({ block, chance }, at) => {
    const family = groups[at]?.[familyAt] ?? -1;
    const record = groups[at]?.[recordAt] ?? -1;
    if (family < 0 || record < 0 || inMargin(block)) return;
    const held = families.get(family) ?? { records: new Map(), length: 0, keptLength: 0, wanted: 0 };
    families.set(family, held);
    held.length += block.text.length;
    held.wanted += block.text.length * chance;
    if (chosen[at]) held.keptLength += block.text.length;
    const blocks = held.records.get(record);
    if (blocks) blocks.push(at);
    else held.records.set(record, [at]);
  });
  return [...families.values()];
}

function isSmallPrint({ owner, text }: Block): boolean {
  if (
    /©|copyright|all rights reserved|terms (?:and|&) conditions|value added tax|without notice|no liability/i.test(text)
  )
    return true;
  for (let node: ParentNode | null = owner; node instanceof Element; node = node.parent)
    if (
      /(?:^|[\s_-])(?:legal|disclaimer|imprint|fine-?print|small-?print|footer|bottom|terms)(?:$|[\s_-])/i.test(
        `${node.attribs.class ?? ""} ${node.attribs.id ?? ""}`,
      )
    )
      return true;
  return false;
}

/** A line that names a writer or a time: short, by its marks or by its words. */
function isByline(judged: Judged | undefined): boolean {
  if (!judged) return false;
  const { block } = judged;
  if (block.text === "" || block.text.length > 80) return false;
  for (
    let node: ParentNode | null = block.owner, up = 0;
    node instanceof Element && up < 3;
    node = node.parent, up += 1
  ) {
    if (
      node.name === "time" ||
      node.attribs.rel === "author" ||
      /author|datePublished|dateCreated/i.test(node.attribs.itemprop ?? "")
    )
      return true;
    if (classNames(node).some((each) => /author|user-?name|poster|byline|date|time|posted/i.test(each))) return true;
  }
  return block.nodes.some(
    (node) =>
      node instanceof Element && (node.name === "time" || /author|user|date|time/i.test(node.attribs.class ?? "")),
  );
}

function isSpeech(judged: Judged | undefined): boolean {
  if (!judged) return false;
  const { block } = judged;
  return (
    block.text !== "" && block.linkLength < 0.8 * block.text.length && block.controlLength === 0 && !isByline(judged)
  );
}
