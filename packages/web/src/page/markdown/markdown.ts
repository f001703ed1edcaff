import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { classNames, isInlineTag, squeeze, textContent } from "../dom.ts";
import { codeLanguage, codeText } from "./code.ts";
import { escapeInline, escapeLineStart, longestRun } from "./escape.ts";
import { type Context, inline, isKept } from "./inline.ts";
import { texAttribute } from "./math.ts";
import { isLayout, pipeTable, tableCode } from "./table.ts";

/**
 * Markdown of everything in `root`. The tree is one that `prepare` has put in order: formulas folded, links around
 * blocks moved inwards, lists repaired.
 */
export function toMarkdown(root: ParentNode, context: Context): string {
  const blocks = blocksOf(root.children, context);
  // A rule separates: at an end or after another it has nothing to do.
  return blocks
    .filter(
      (block, at) =>
        block !== "---" ||
        (blocks[at - 1] !== "---" && blocks.slice(0, at).some(isText) && blocks.slice(at).some(isText)),
    )
    .join("\n\n")
    .trim();
}

function isText(block: string): boolean {
  return block !== "---";
}

/** One string for each block; blocks are a blank line apart. */
function blocksOf(nodes: readonly ChildNode[], context: Context): string[] {
  const blocks: string[] = [];
  let run: ChildNode[] = [];
  const close = (): void => {
    if (run.length === 0) return;
    const text = paragraph(run, context);
    if (text !== "") blocks.push(text);
    run = [];
  };
  for (const node of nodes) {
    if (node instanceof Element) {
      if (context.skip(node) && !isKept(node)) continue;
      if (isInline(node)) run.push(node);
      else {
        close();
        blocks.push(...blockOf(node, context));
      }
    } else if (node instanceof Text) run.push(node);
    else if ("children" in node) {
      close();
      blocks.push(...blocksOf(node.children as ChildNode[], context));
    }
  }
  close();
  return blocks.filter((block) => block.trim() !== "");
}

function isInline(element: Element): boolean {
  if (element.name === "iframe" || element.name === "video") return true;
  if (!isInlineTag(element.name)) return false;
  if (element.attribs[texAttribute] === "display") return false;
  return !element.children.some((child) => child instanceof Element && !isInline(child));
}

function paragraph(nodes: readonly ChildNode[], context: Context): string {
  return inline(nodes, context).split("\n").map(escapeLineStart).join("\n");
}

function blockOf(element: Element, context: Context): string[] {
  const { name } = element;
  if (/^h[1-6]$/.test(name)) return heading(element, Number(name[1]), context);
  switch (name) {
    case "pre":
    case "xmp":
    case "listing":
      return [fence(codeText(element), codeLanguage(element))];
    case "code":
      return element.attribs[texAttribute] === "display"
        ? [`$$\n${textContent(element)}\n$$`]
        : blocksOf(element.children, context);
    case "hr":
      return ["---"];
    case "blockquote":
      return quote(blocksOf(element.children, context));
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      return list(element, context);
    case "dl":
      return definitions(element, context);
    case "table":
      return table(element, context);
    case "summary": {
      const text = inline(element.children, context, { lineBreak: " " });
      return text === "" ? [] : [/^\*\*.*\*\*$/.test(text) ? text : `**${text.replace(/\*\*/g, "")}**`];
    }
    case "a": {
      // A link around blocks that `prepare` left: its blocks stand by themselves.
      return blocksOf(element.children, context);
    }
    default:
      return blocksOf(element.children, context);
  }
}

function heading(element: Element, level: number, context: Context): string[] {
  const nodes = element.children.filter((child) => !(child instanceof Element && isPermalink(child)));
  const text = inline(nodes, context, { lineBreak: " " }).replace(/\s+/g, " ").trim();
  if (text === "") return [];
  return [`${"#".repeat(level)} ${text.replace(/(^|\s)(#+)$/, "$1\\$2")}`];
}

/** The mark beside a heading that links to the heading itself. */
function isPermalink(element: Element): boolean {
  if (element.name !== "a" && element.name !== "button")
    return (
      element.children.length === 1 && element.children.every((child) => child instanceof Element && isPermalink(child))
    );
  const text = squeeze(textContent(element));
  if (
    /^(?:#|¶|§|🔗|\u{f0c1}|link|permalink|copy link|direct link to .*|link to this (?:heading|section).*|anchor link.*|edit|\[edit\])?$/iu.test(
      text,
    )
  )
    return !hasImage(element) || text === "";
  return classNames(element).some((each) =>
    /^(?:headerlink|permalink|header-anchor|hash-link|heading-anchor|anchorjs-link)$/i.test(each),
  );
}

function hasImage(element: Element): boolean {
  return element.children.some((child) => child instanceof Element && child.name === "img");
}

function fence(text: string, language: string): string {
  if (text.trim() === "") return "";
  const mark = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${mark}${language}\n${text}\n${mark}`;
}

function quote(blocks: readonly string[]): string[] {
  if (blocks.length === 0) return [];
  return [
    blocks
      .join("\n\n")
      .split("\n")
      .map((line) => (line === "" ? ">" : `> ${line}`))
      .join("\n"),
  ];
}

function list(element: Element, context: Context): string[] {
  const ordered = element.name === "ol";
  const start = Number.parseInt(element.attribs.start ?? "1", 10);
  let number = Number.isFinite(start) && start >= 0 ? start : 1;
  const items: { mark: string; blocks: string[]; spaced: boolean }[] = [];
  for (const child of element.children) {
    if (child instanceof Text && squeeze(child.data) === "") continue;
    if (child instanceof Element && context.skip(child)) continue;
    if (child instanceof Element && child.name === "li") {
      const value = Number.parseInt(child.attribs.value ?? "", 10);
      if (ordered && Number.isFinite(value) && value >= 0) number = value;
      const blocks = itemBlocks(child, context);
      if (blocks.length === 0) continue;
      items.push({
        mark: ordered ? `${number}. ` : "- ",
        blocks,
        spaced: child.children.some((part) => part instanceof Element && part.name === "p") && blocks.length > 1,
      });
      number += 1;
      continue;
    }
    // Not an item: text or a list that stands right in the list belongs to the item before.
    const blocks = blocksOf([child], context);
    const last = items[items.length - 1];
    if (last) last.blocks.push(...blocks);
    else if (blocks.length > 0) items.push({ mark: ordered ? `${number++}. ` : "- ", blocks, spaced: false });
  }
  const loose = items.some(({ spaced }) => spaced);
  const texts = items.map(({ mark, blocks }) => {
    const body = blocks.reduce((text, block, index) => {
      if (index === 0) return block;
      const tight = !loose && /^(?:[-*+]|\d+[.)]) /.test(block) && !/^(?:```|\|)/.test(blocks[index - 1] ?? "");
      return `${text}${tight ? "\n" : "\n\n"}${block}`;
    }, "");
    const indent = " ".repeat(mark.length);
    return `${mark}${body
      .split("\n")
      .map((line, index) => (index === 0 || line === "" ? line : `${indent}${line}`))
      .join("\n")}`;
  });
  return texts.length === 0 ? [] : [texts.join(loose ? "\n\n" : "\n")];
}

/** A check box at the head of an item makes it a task. */
function itemBlocks(item: Element, context: Context): string[] {
  const blocks = blocksOf(item.children, context);
  const first = blocks[0]?.replace(/^\\?\[( |x)\]\s*/, "[$1] ");
  return first === undefined ? blocks : [first, ...blocks.slice(1)];
}

function definitions(element: Element, context: Context): string[] {
  const blocks: string[] = [];
  const visit = (parent: Element): void => {
    for (const child of parent.children) {
      if (!(child instanceof Element) || context.skip(child)) continue;
      if (child.name === "dt") {
        const text = inline(child.children, context, { lineBreak: " " });
        if (text !== "") blocks.push(text.startsWith("**") ? text : `**${text.replace(/\*\*/g, "")}**`);
      } else if (child.name === "dd") blocks.push(...blocksOf(child.children, context));
      else if (child.name === "div") visit(child);
      else blocks.push(...blocksOf([child], context));
    }
  };
  visit(element);
  return blocks;
}

function table(element: Element, context: Context): string[] {
  const code = tableCode(element);
  if (code) return [fence(code.text, codeLanguage(code.pre ?? element))];
  if (isLayout(element)) return blocksOf(layoutParts(element), context);
  const caption = element.children.find(
    (child): child is Element => child instanceof Element && child.name === "caption",
  );
  const title = caption ? inline(caption.children, context, { lineBreak: " " }) : "";
  const text = pipeTable(element, (nodes) => cellText(nodes, context));
  return [title, text].filter((part) => part !== "");
}

function layoutParts(element: Element): ChildNode[] {
  return element.children.flatMap((child) => {
    if (!(child instanceof Element)) return [child];
    return /^(?:tbody|thead|tfoot|tr)$/.test(child.name) ? layoutParts(child) : [child];
  });
}

/** Blocks of a cell on one line. */
function cellText(nodes: readonly ChildNode[], context: Context): string {
  const parts: string[] = [];
  let run: ChildNode[] = [];
  const close = (): void => {
    if (run.length > 0) parts.push(inline(run, context, { lineBreak: "<br>" }));
    run = [];
  };
  for (const node of nodes) {
    if (node instanceof Element && !context.skip(node) && !isInline(node)) {
      close();
      if (node.name === "li") parts.push(`- ${cellText(node.children, context)}`);
      else if (node.name === "pre")
        parts.push(
          `\`${codeText(node)
            .replace(/\s*\n\s*/g, " ")
            .replace(/`/g, "'")}\``,
        );
      else parts.push(cellText(node.children, context));
    } else run.push(node);
  }
  close();
  return parts.filter((part) => part !== "").join("<br>");
}

/** Text of a title or label as one line of Markdown. */
export function titleLine(title: string): string {
  return `# ${escapeInline(squeeze(title))}`;
}
