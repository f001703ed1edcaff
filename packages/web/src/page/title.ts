import { type ChildNode, Element, type ParentNode, Text } from "domhandler";
import { isInlineTag, squeeze, textContent } from "./dom.ts";
import { type First, recordText } from "./main-record.ts";

/** What the title is chosen by, beside the headings. */
export interface TitleClues {
  first: First;
  main: Record<string, unknown> | undefined;
  site: string | undefined;
  url: string;
}

/**
 * The title of the page: its main heading where the head of the page or its address speaks of the same, else what the
 * head says, without the name of the site. A heading that neither names is a slogan, a label or the site's own sign.
 */
export function titleOf(elements: readonly Element[], { first, main, site, url }: TitleClues): string | undefined {
  const headings: string[] = [];
  let head = "";
  for (const element of elements) {
    if (element.name === "h1" && headings.length < 8) headings.push(squeeze(shownText(element)));
    else if (element.name === "title" && !head && element.parent instanceof Element && element.parent.name === "head")
      head = squeeze(textContent(element));
  }
  const lines = [...new Set(headings.map((line) => line.replace(/\s*[¶#]$/, "")))].filter(
    (line) => line !== "" && line.length < 300,
  );
  const known = [
    first("og:title", "twitter:title", "dc.title", "title", "sailthru.title"),
    head,
    recordText(main, "headline", "name"),
  ].filter((line): line is string => line !== undefined && line !== "");
  const clues = { known, head, site, slug: slugWords(url), alone: lines.length === 1 };
  let best: { line: string; worth: number } | undefined;
  for (const whole of lines) {
    const line = beforeBar(whole);
    const worth = headingWorth(line, clues);
    if (worth > 0 && (!best || worth > best.worth)) best = { line, worth };
  }
  if (best) return best.line;
  const other = head || known[0];
  return other === undefined ? lines[0] : withoutSite(other, site);
}

/** Text as it is seen: no styles and pictures in it, blocks apart. */
function shownText(node: ChildNode | ParentNode): string {
  if (node instanceof Text) return node.data;
  if (!("children" in node)) return "";
  if (node instanceof Element && /^(?:script|style|svg|noscript|template|button)$/.test(node.name)) return "";
  const inside = node.children.map(shownText).join("");
  return node instanceof Element && (node.name === "br" || !isInlineTag(node.name)) ? ` ${inside} ` : inside;
}

interface HeadingClues {
  known: readonly string[];
  head: string;
  site: string | undefined;
  slug: ReadonlySet<string>;
  alone: boolean;
}

/** Over 0 when the heading may be the title; the name of the site never is. */
function headingWorth(line: string, { known, head, site, slug, alone }: HeadingClues): number {
  const folded = foldText(line);
  if (folded.length < 2 || (site !== undefined && folded === foldText(site))) return 0;
  const starts = known.some((other) => foldText(other) === folded || foldText(other).startsWith(`${folded} `));
  const inside = known.some((other) => folded.length > 12 && foldText(other).includes(folded));
  // "Chapter - Name of the book": the part that closes the head's title names the site.
  const closes = !starts && foldText(/.*\s[|\u2013\u2014·»-]\s+(.*)$/.exec(head)?.[1] ?? "") === folded;
  const unnamed = !starts && !inside && head !== "" && ![...wordsOf(line)].some((word) => slug.has(word));
  return (
    (starts ? 4 : inside ? 2 : 0) +
    (alone ? 1 : 0) -
    (closes ? 4 : 0) -
    (unnamed ? 4 : 0) -
    (/^(?:home|readme|menu|search|welcome)$/.test(folded) ? 4 : 0)
  );
}

/** Words of three letters and more. */
function wordsOf(text: string): Set<string> {
  return new Set(
    foldText(text)
      .split(" ")
      .filter((word) => word.length > 2),
  );
}

function slugWords(url: string): Set<string> {
  if (!URL.canParse(url)) return new Set();
  const { pathname } = new URL(url);
  try {
    return wordsOf(decodeURIComponent(pathname));
  } catch (error) {
    if (error instanceof URIError) return wordsOf(pathname);
    throw error;
  }
}

function foldText(value: string): string {
  return value
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** "Title | Section" in a heading: what stands before the bar, unless that is only a label. */
function beforeBar(line: string): string {
  const [start = ""] = line.split(/\s*\|\s+/);
  return start.length >= 6 ? start : line;
}

/** A title of the head without the name of the site at its end: what follows a bar, or a short last part. */
function withoutSite(title: string, site: string | undefined): string {
  const parts = title.split(/\s+[|\u2013\u2014·»-]\s+|\s*[|»]\s*/);
  if (parts.length < 2) return title;
  const last = parts[parts.length - 1] ?? "";
  const cut = title.slice(0, title.lastIndexOf(last)).replace(/\s*[|\u2013\u2014·»-]\s*$/, "");
  const start = beforeBar(cut);
  if (start !== cut || (site && foldText(last) === foldText(site))) return start;
  return last.length < 30 && cut.length > last.length * 1.2 ? cut : title;
}
