import { type Document, Element, type ParentNode, Text } from "domhandler";
import { elementsIn, firstElement, parentElement } from "./dom.ts";

/** Elements whose text is never shown as text of the page. */
const neverShown = new Set(
  (
    "script style head title meta link base iframe frame frameset noframes object embed applet canvas audio video svg " +
    "input textarea select option optgroup datalist progress meter param source track map area"
  ).split(" "),
);

const noDisplay = /(?:^|[;\s])display\s*:\s*none/i;
const notVisible = /(?:^|[;\s])visibility\s*:\s*(?:hidden|collapse)/i;
const zeroOpacity = /(?:^|[;\s])opacity\s*:\s*0(?:\.0+)?%?\s*(?:!important\s*)?(?:;|$)/i;
const moves = /(?:^|[;\s-])(?:transform|transition|animation)\s*:/i;
const offScreen =
  /(?:^|[;\s])(?:left|top|right|bottom|text-indent|margin-left|margin-top)\s*:\s*-\s*\d{3,}(?:\.\d+)?(?:px|em|rem|vw|%)?/i;
const noSize =
  /(?:^|[;\s])(?:width|height|max-width|max-height|font-size)\s*:\s*[01](?:\.0+)?(?:px|em|pt|rem)?\s*(?:!important\s*)?(?:;|$)/i;
const clipped =
  /(?:^|[;\s])(?:clip\s*:\s*rect\(\s*[01]|clip-path\s*:\s*inset\(\s*(?:50|100)%|transform\s*:\s*scale\(\s*0\s*\))/i;

/** Names that people give to what a click opens: tab panels, accordions, answers. */
const openable =
  /accordion|collaps|(?:^|[-_\s])tabs?(?:$|[-_\s])|tab-?(?:pane|panel|content)|faq|answer|expand|spoiler|read-?more|show-?more|toggle-?(?:content|body)|panel-?(?:body|content)/i;
const overlay =
  /dialog|modal|popup|pop-up|overlay|drawer|off-?canvas|menu|nav|dropdown|tooltip|popover|cookie|consent|search|login|cart|lightbox|flyout/i;

export interface Visibility {
  /** Whether the element and all in it is left out. */
  skip(element: Element): boolean;
  /** Characters that were left out because they are hidden. */
  hiddenLength: number;
  /** Next to nothing was visible, so hidden text counts as well. */
  hiddenKept: boolean;
}

/** Decides once for the page what of it a reader can see, or can open with a click. */
export function judgeVisibility(document: Document): Visibility {
  const hides = hidingRule(document);
  const atFirstSight = lengthOf(
    document,
    (element) => neverShown.has(element.name) || element.name === "noscript" || isHidden(element),
  );
  const noscript = (element: Element): boolean => element.name === "noscript";
  const basic = (element: Element): boolean =>
    neverShown.has(element.name) || (element.name === "template" && element.attribs.shadowrootmode === undefined);

  const visible = lengthOf(document, (element) => basic(element) || noscript(element) || hides(element));
  const shown = lengthOf(document, (element) => basic(element) || noscript(element));
  const withNoscript = lengthOf(document, (element) => basic(element));
  const fallback = withNoscript - shown;
  const takeNoscript = fallback >= 200 && fallback > 2 * visible;
  const hiddenKept = !takeNoscript && atFirstSight < 0.05 * shown && shown >= 500;
  return {
    skip: (element) => basic(element) || (noscript(element) && !takeNoscript) || (!hiddenKept && hides(element)),
    hiddenLength: hiddenKept ? 0 : shown - visible,
    hiddenKept,
  };
}

/** By attributes alone; class names say nothing sure without the style sheet. */
function hidingRule(document: Document): (element: Element) => boolean {
  const opened = openedIds(document);
  const others = [...elementsIn(document)].some((element) => isPageMark(element) && !insideHidden(element));
  const seenLength = lengthOf(
    document,
    (element) => neverShown.has(element.name) || element.name === "noscript" || isHidden(element),
  );
  const isPage = (element: Element): boolean =>
    holdsPage(element) && (!others || lengthOf(element, ({ name }) => neverShown.has(name)) > seenLength);
  const known = new Map<Element, boolean>();
  return (element) => {
    const before = known.get(element);
    if (before !== undefined) return before;
    const hidden = isHidden(element) && !isOpenable(element, opened) && !isPage(element);
    known.set(element, hidden);
    return hidden;
  };
}

function isHidden({ attribs }: Element): boolean {
  if (attribs.hidden !== undefined && attribs.hidden !== "until-found") return true;
  if (attribs["aria-hidden"] === "true") return true;
  const style = attribs.style;
  return style !== undefined && style.length < 4_096 && isHidingStyle(style);
}

function isHidingStyle(style: string): boolean {
  if (noDisplay.test(style) || notVisible.test(style) || clipped.test(style)) return true;
  // Blocks that fade in start invisible and carry their movement beside it.
  if (zeroOpacity.test(style) && !moves.test(style)) return true;
  if (offScreen.test(style) && /position\s*:\s*(?:absolute|fixed)|text-indent/i.test(style)) return true;
  return noSize.test(style) && /overflow\s*:\s*hidden|font-size/i.test(style);
}

/** What a control of the page opens for the reader is content that waits, not hidden text. */
function isOpenable(element: Element, opened: ReadonlySet<string>): boolean {
  const { attribs } = element;
  const role = attribs.role ?? "";
  if (role === "dialog" || role === "alertdialog" || role === "menu" || attribs["aria-modal"] !== undefined)
    return false;
  const names = `${attribs.class ?? ""} ${attribs.id ?? ""}`;
  if (overlay.test(names)) return false;
  if (role === "tabpanel") return true;
  if (openable.test(names)) return true;
  // React streams late parts into hidden holders that its own script moves into place.
  if (attribs.hidden !== undefined && /^S:[0-9a-f]+$/.test(attribs.id ?? "")) return true;
  return attribs.id !== undefined && opened.has(attribs.id);
}

function openedIds(document: Document): Set<string> {
  const ids = new Set<string>();
  for (const { attribs, name } of elementsIn(document)) {
    const targets = [attribs["aria-controls"], attribs["data-target"], attribs["data-bs-target"]];
    if (name === "a" && (attribs.role === "tab" || attribs["data-toggle"] !== undefined)) targets.push(attribs.href);
    if (attribs["aria-haspopup"] !== undefined) continue;
    for (const target of targets) for (const id of target?.split(/\s+/) ?? []) if (id) ids.add(id.replace(/^#/, ""));
  }
  return ids;
}

/** A hidden wrapper around the page's own heading or main part is opened by a script: the page is inside. Where another one is seen, only a larger one counts. */
function holdsPage(element: Element): boolean {
  if (element.attribs.role === "dialog" || element.attribs["aria-modal"] !== undefined) return false;
  return firstElement(element, isPageMark) !== undefined;
}

function isPageMark({ name, attribs }: Element): boolean {
  return name === "main" || name === "h1" || attribs.role === "main";
}

function insideHidden(element: Element): boolean {
  for (let up: Element | undefined = element; up; up = parentElement(up)) if (isHidden(up)) return true;
  return false;
}

function lengthOf(root: ParentNode, skip: (element: Element) => boolean): number {
  let length = 0;
  for (const child of root.children) {
    if (child instanceof Text) length += child.data.trim().length;
    else if (child instanceof Element) {
      if (!skip(child)) length += lengthOf(child, skip);
    } else if ("children" in child) length += lengthOf(child, skip);
  }
  return length;
}
