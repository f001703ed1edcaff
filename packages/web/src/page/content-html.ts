import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { type Context, isKept } from "./markdown/inline.ts";
import { imageSource, resolve } from "./markdown/media.ts";

const keptAttributes = new Set(
  "alt title colspan rowspan align start value type checked datetime lang dir cite headers scope abbr open id data-tex".split(
    " ",
  ),
);
const voidTags = new Set("area base br col embed hr img input link meta source track wbr".split(" "));
const dropped = new Set("html body main article".split(" "));

/** Clean HTML of a content tree: no scripts, styles or event handlers, absolute addresses. */
export function contentHtml(root: ParentNode, context: Context): string {
  return root.children
    .map((child) => htmlOf(child, context))
    .join("")
    .trim();
}

function htmlOf(node: ChildNode, context: Context): string {
  if (node instanceof Text) return escapeText(node.data);
  if (!("children" in node)) return "";
  const inside = (): string => node.children.map((child) => htmlOf(child, context)).join("");
  if (!(node instanceof Element)) return inside();
  if (context.skip(node) && !isKept(node)) return "";
  if (node.name === "head") return "";
  if (dropped.has(node.name)) return inside();
  const attributes = attributesOf(node, context);
  if (node.name === "img" && !attributes.includes(" src=")) return "";
  const open = `<${node.name}${attributes}>`;
  return voidTags.has(node.name) ? open : `${open}${inside()}</${node.name}>`;
}

function attributesOf(element: Element, context: Context): string {
  const { attribs, name } = element;
  let text = "";
  for (const [key, value] of Object.entries(attribs)) {
    if (key === "class" && (name === "code" || name === "pre") && /lang|highlight|source/.test(value))
      text += ` class="${escapeAttribute(value)}"`;
    else if (keptAttributes.has(key) && (key !== "id" || value.length < 100))
      text += ` ${key}="${escapeAttribute(value)}"`;
  }
  const href = name === "a" ? resolve(attribs.href, context.base) : undefined;
  if (href) text += ` href="${escapeAttribute(href)}"`;
  const source =
    name === "img"
      ? imageSource(element, context.base)
      : name === "iframe" || name === "video"
        ? resolve(attribs.src, context.base)
        : undefined;
  if (source) text += ` src="${escapeAttribute(source)}"`;
  return text;
}

function escapeText(text: string): string {
  return text
    .replace(/&/g, "&amp;")
    .replace(/</g, "&lt;")
    .replace(/>/g, "&gt;")
    .replace(/\u00a0/g, "&nbsp;");
}

function escapeAttribute(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/"/g, "&quot;").replace(/</g, "&lt;");
}
