import { type ChildNode, Element, Text } from "domhandler";
import { classNames, squeeze, textContent } from "../dom.ts";
import { codeText } from "./code.ts";
import { codeSpan, encodeTarget, escapeInline } from "./escape.ts";
import { texAttribute } from "./math.ts";
import { alternative, imageSource, isTiny, resolve, videoLink } from "./media.ts";

export interface Context {
  base: string;
  /** The page itself: links to its own parts stay links, back references of footnotes go. */
  url: string;
  skip(element: Element): boolean;
}

interface Piece {
  text: string;
  /** Emphasis mark that goes around the text where Markdown can read it. */
  mark?: "**" | "*" | "~~";
}

export interface InlineOptions {
  /** What a line break becomes. @default "  \n" */
  lineBreak?: string;
  inLink?: boolean;
}

const strong = new Set(["b", "strong"]);
const emphasis = new Set(["i", "em", "cite", "dfn", "var"]);
const deleted = new Set(["del", "s", "strike"]);

/** Markdown of a run of inline nodes, white space folded, ends trimmed. */
export function inline(nodes: readonly ChildNode[], context: Context, options: InlineOptions = {}): string {
  const text = join(pieces(nodes, context, options));
  return text
    .replace(/[ \t]+/g, " ")
    .replace(/ ?\ue000 ?/g, options.lineBreak ?? "  \n")
    .replace(/^(?:\s|<br>)+|(?:\s|<br>)+$/g, "");
}

function pieces(nodes: readonly ChildNode[], context: Context, options: InlineOptions): Piece[] {
  return nodes.flatMap((node) => piecesOf(node, context, options));
}

function piecesOf(node: ChildNode, context: Context, options: InlineOptions): Piece[] {
  if (node instanceof Text) return [{ text: escapeInline(node.data.replace(/[\s\u200b\ufeff]+/gu, " ")) }];
  if (!(node instanceof Element) || (context.skip(node) && !isKept(node))) return [];
  const { name, attribs } = node;
  const inner = (more: InlineOptions = options): Piece[] => pieces(node.children, context, more);
  if (name === "br") return [{ text: "\ue000" }];
  if (name === "code" && attribs[texAttribute] !== undefined) return [{ text: formula(node) }];
  if (name === "code" || name === "tt" || name === "samp" || name === "kbd") return [{ text: code(node) }];
  if (name === "img") return [{ text: image(node, context) }];
  if (name === "iframe" || name === "video") {
    const video = videoLink(node, context.base);
    return video ? [{ text: `[${escapeInline(video.title)}](${encodeTarget(video.url)})` }] : [];
  }
  if (name === "input") return isCheckbox(node) ? [{ text: `[${attribs.checked === undefined ? " " : "x"}] ` }] : [];
  if (name === "a") return link(node, context, options);
  if (strong.has(name)) return emphasise(inner(), "**");
  if (emphasis.has(name)) return emphasise(inner(), "*");
  if (deleted.has(name)) return emphasise(inner(), "~~");
  if (name === "q") return [{ text: "“" }, ...inner(), { text: "”" }];
  if (name === "rp") return [];
  if (name === "rt") return [{ text: "(" }, ...inner(), { text: ")" }];
  if (name === "sup") return raised(node, inner());
  if (name === "button" || name === "label") return [{ text: " " }, ...inner(), { text: " " }];
  return inner();
}

/** Check boxes and frames hold no text but mean something in Markdown. */
export function isKept(element: Element): boolean {
  return isCheckbox(element) || element.name === "iframe" || element.name === "video";
}

function isCheckbox(element: Element): boolean {
  return element.name === "input" && element.attribs.type?.toLowerCase() === "checkbox";
}

function emphasise(list: readonly Piece[], mark: "**" | "*" | "~~"): Piece[] {
  const text = join(list);
  const core = text.trim();
  if (core === "" || core.includes("\ue000")) return [{ text }];
  // The same emphasis twice is once.
  const bare =
    mark !== "~~" &&
    core.startsWith(mark) &&
    core.endsWith(mark) &&
    core.length > 2 * mark.length &&
    !core.slice(mark.length, -mark.length).includes(mark)
      ? core.slice(mark.length, -mark.length)
      : core;
  const lead = text.startsWith(" ") ? [{ text: " " }] : [];
  const tail = text.endsWith(" ") ? [{ text: " " }] : [];
  return [...lead, { text: bare, mark }, ...tail];
}

/** Puts the pieces together, with emphasis marks where CommonMark will read them as such. */
function join(list: readonly Piece[]): string {
  const merged: Piece[] = [];
  for (const piece of list) {
    const last = merged[merged.length - 1];
    if (piece.mark && last?.mark === piece.mark) last.text += piece.text;
    else if (piece.text !== "") merged.push({ ...piece });
  }
  let text = "";
  merged.forEach((piece, index) => {
    if (!piece.mark) {
      text += piece.text;
      return;
    }
    const next = merged[index + 1]?.text ?? "";
    text += marked(piece.text, piece.mark, text, next);
  });
  return text;
}

const word = /[\p{L}\p{N}]/u;
const blank = /\s|\ue000/u;

/**
 * A mark beside a letter on the outside must not have punctuation on the inside, or CommonMark takes it for text
 * (left- and right-flanking runs): such punctuation moves out.
 *
 * @see https://spec.commonmark.org/0.31.2/#left-flanking-delimiter-run
 */
function marked(text: string, mark: string, before: string, after: string): string {
  const previous = before.slice(-1);
  const following = after.slice(0, 1);
  let core = text;
  let lead = "";
  let tail = "";
  if (previous !== "" && !blank.test(previous) && word.test(previous)) {
    const moved = /^[^\p{L}\p{N}\s\\`*[\]!<&]+/u.exec(core)?.[0] ?? "";
    lead = moved;
    core = core.slice(moved.length);
  }
  if (following !== "" && word.test(following)) {
    const moved = /[^\p{L}\p{N}\s\\`*[\]()!>;]+$/u.exec(core)?.[0] ?? "";
    if (moved && !core.slice(0, -moved.length).endsWith("\\")) {
      tail = moved;
      core = core.slice(0, -moved.length);
    }
  }
  if (core.trim() === "") return `${lead}${core}${tail}`;
  const edge = (char: string): boolean => !word.test(char);
  if (
    (previous && word.test(previous) && edge(core[0] ?? "")) ||
    (following && word.test(following) && edge(core[core.length - 1] ?? ""))
  )
    return `${lead}${core}${tail}`;
  // A mark right beside one of its own kind would be read as a longer run.
  if (previous === mark[0] || following === mark[0]) return `${lead}${core}${tail}`;
  return `${lead}${mark}${core}${mark}${tail}`;
}

function formula(element: Element): string {
  const tex = textContent(element);
  return element.attribs[texAttribute] === "display" ? `$$${tex}$$` : `$${tex}$`;
}

function code(element: Element): string {
  const text = codeText(element).replace(/\s+/g, " ");
  if (text.trim() === "") return text === "" ? "" : " ";
  const outer = textContent(element);
  return `${/^\s/.test(outer) ? " " : ""}${codeSpan(text.trim())}${/\s$/.test(outer) ? " " : ""}`;
}

function image(element: Element, context: Context): string {
  const alt = alternative(element);
  const source = isTiny(element) ? undefined : imageSource(element, context.base);
  if (source === undefined)
    return alt && !isTiny(element) && (element.attribs.src ?? "").startsWith("data:")
      ? `[image: ${escapeInline(alt)}]`
      : "";
  if (!alt && !hasCaption(element)) return "";
  return `![${escapeInline(alt).replace(/[[\]]/g, (char, at: number, all: string) => (all[at - 1] === "\\" ? char : `\\${char}`))}](${encodeTarget(source)})`;
}

function hasCaption(element: Element): boolean {
  for (let up = element.parent; up instanceof Element; up = up.parent)
    if (up.name === "figure")
      return up.children.some(
        (child) => child instanceof Element && child.name === "figcaption" && squeeze(textContent(child)) !== "",
      );
  return false;
}

function link(element: Element, context: Context, options: InlineOptions): Piece[] {
  const inner = pieces(element.children, context, { ...options, inLink: true });
  const text = join(inner).replace(/\ue000/g, " ");
  const core = text.trim();
  if (core === "" || isBackReference(core, element)) return text.includes(" ") ? [{ text: " " }] : [];
  const target = options.inLink ? undefined : resolve(element.attribs.href, context.base);
  if (target === undefined) return inner;
  const label = core.replace(/(?<!\\)[[\]]/g, (char, at: number) => (insideImage(core, at) ? char : `\\${char}`));
  return [
    { text: text.startsWith(" ") ? " " : "" },
    { text: `[${label}](${encodeTarget(target)})` },
    { text: text.endsWith(" ") ? " " : "" },
  ].filter((piece) => piece.text !== "");
}

/** Brackets of an image or of a check box in a link stay as they are. */
function insideImage(text: string, at: number): boolean {
  for (const found of text.matchAll(/!\[(?:\\.|[^\]\\])*\]\([^)]*\)|`[^`]*`|\[image: [^\]]*\]/g))
    if (at >= found.index && at < found.index + found[0].length) return true;
  return false;
}

function isBackReference(text: string, element: Element): boolean {
  return /^(?:↩︎?|↑|\^|⏎|↵|¶|#|§|🔗)$/u.test(text) && (element.attribs.href ?? "").includes("#");
}

/** Powers and ordinals: `x^2`, `1st`; a raised link is a reference. */
function raised(element: Element, inner: readonly Piece[]): Piece[] {
  const text = squeeze(textContent(element));
  if (text === "" || classNames(element).some((each) => /footnote|reference/.test(each))) return [...inner];
  if (element.children.some((child) => child instanceof Element && child.name === "a")) return [...inner];
  if (!/^[-+\u2212]?[\p{N}n]+$/u.test(text)) return [...inner];
  return [{ text: `^${text}` }];
}
