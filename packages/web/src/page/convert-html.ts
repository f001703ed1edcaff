import { type ChildNode, type Document, Element, Text } from "domhandler";
import { cutBlocks } from "./blocks.ts";
import { contentHtml } from "./content-html.ts";
import { elementsIn, squeeze } from "./dom.ts";
import { extractFrom } from "./extract.ts";
import { harvestData } from "./harvest.ts";
import { toMarkdown } from "./markdown/markdown.ts";
import { foldMath } from "./markdown/math.ts";
import { adoptNoscriptImages, baseOf } from "./markdown/media.ts";
import { prepare } from "./markdown/prepare.ts";
import { readMetadata } from "./metadata.ts";
import { PageError } from "./page-error.ts";
import { TooManyNodesError } from "./parse.ts";
import { parsePage } from "./parse-page.ts";
import { keptTree } from "./prune.ts";
import { selectElements } from "./select-by-css.ts";
import type { Extracted, Page, PageNote, ReadPageOptions } from "./types.ts";
import { judgeVisibility } from "./visibility.ts";
import { blockWeights } from "./weights/blocks.ts";
import { typeWeights } from "./weights/types.ts";

/** What crosses to the worker: the options without the signal. */
export type ConvertOptions = Omit<ReadPageOptions, "signal">;

/** What is known of a document before it is converted. */
export type PageBase = Pick<Page, "kind" | "contentType" | "mayNeedJavaScript"> & {
  charset?: string;
  notes: PageNote[];
};

/** HTML as the form that was asked for. */
export function convertHtml(source: string, base: PageBase, options: ConvertOptions): Page {
  const { format = "auto", selector, url } = options;
  const document = parsed(source, options);
  const section = markSection(document, url);
  if (format === "html" && selector === undefined) return wholeHtml(document, base, url);
  if (selector !== undefined) return selected(document, base, options, section);
  const extracted = extractFrom(
    document,
    source.length,
    { url, ...(options.only === undefined ? {} : { only: options.only }) },
    { blocks: blockWeights, types: typeWeights },
  );
  if (options.only === "article" && extracted.text === "" && !extracted.mayNeedJavaScript)
    throw new PageError("not_found", "the page holds no article", 'engine: "default"');
  return page(extracted, base, format, section);
}

function parsed(source: string, options: ConvertOptions): Document {
  try {
    return parsePage(source, options);
  } catch (error) {
    if (error instanceof TooManyNodesError)
      throw new PageError("too_large", `the page is too complex to convert: ${error.message}`, 'format: "raw"');
    throw error;
  }
}

function page(extracted: Extracted, base: PageBase, format: string, section: string | undefined): Page {
  const { metadata, data, title } = extracted;
  const common = {
    ...base,
    pageType: extracted.type,
    metadata,
    data,
    ...(title === undefined ? {} : { title }),
    mayNeedJavaScript: extracted.mayNeedJavaScript,
    notes: [...base.notes, ...extracted.notes],
  };
  if (format === "json") return { ...common, format, content: structured(metadata, data) };
  if (format === "text") return { ...common, format, ...withSection(extracted.text, section) };
  return { ...common, format: "markdown", ...withSection(extracted.markdown, section) };
}

function structured(metadata: Extracted["metadata"], data: Extracted["data"]): string {
  return JSON.stringify(
    { metadata, jsonLd: data.jsonLd, microdata: data.microdata, embedded: data.embedded },
    undefined,
    2,
  );
}

/** The document without scripts, styles and event handlers, addresses absolute. */
function wholeHtml(document: Document, base: PageBase, url: string): Page {
  const address = baseOf(document, url);
  const data = harvestData(document);
  const metadata = readMetadata(document, data, url, address);
  adoptNoscriptImages(document);
  const skip = ({ name }: Element): boolean =>
    /^(?:script|style|template|noscript|link|meta|base|object|embed|applet)$/.test(name);
  const content = contentHtml(document, { base: address, url, skip });
  return {
    ...base,
    format: "html",
    content: removeMark(content).text,
    metadata,
    data,
    ...(metadata.title === undefined ? {} : { title: metadata.title }),
  };
}

/** Everything visible in the elements that a selector matches. */
function selected(document: Document, base: PageBase, options: ConvertOptions, section: string | undefined): Page {
  const { format = "auto", selector = "", url } = options;
  const address = baseOf(document, url);
  const data = harvestData(document);
  const metadata = readMetadata(document, data, url, address);
  if (format === "json") return { ...base, format, content: structured(metadata, data), metadata, data };
  foldMath(document);
  adoptNoscriptImages(document);
  const elements = selectElements(document, selector);
  const visibility = judgeVisibility(document);
  const chosen = new Set<Element>(elements);
  // What was asked for by name is given even where it is hidden.
  const skip = (element: Element): boolean => !chosen.has(element) && visibility.skip(element);
  const tree = keptTree(
    document,
    new Set<ChildNode>(elements),
    (element) => !holdsChosen(element, chosen) && skip(element),
  );
  prepare(tree);
  const context = {
    base: address,
    url,
    skip: (element: Element): boolean => visibility.skip(element) && !isCopyOf(element, chosen),
  };
  const common = { ...base, metadata, data, ...(metadata.title === undefined ? {} : { title: metadata.title }) };
  if (format === "html") return { ...common, format, content: removeMark(contentHtml(tree, context)).text };
  if (format === "text") {
    const text = cutBlocks(tree, context.skip)
      .map((block) => block.text)
      .filter((line) => line !== "")
      .join("\n");
    return { ...common, format, ...withSection(text, section) };
  }
  return { ...common, format: "markdown", ...withSection(toMarkdown(tree, context), section) };
}

function holdsChosen(element: Element, chosen: ReadonlySet<Element>): boolean {
  if (chosen.has(element)) return true;
  for (const inner of elementsIn(element)) if (chosen.has(inner)) return true;
  return false;
}

function isCopyOf(element: Element, chosen: ReadonlySet<Element>): boolean {
  for (const each of chosen)
    if (
      each.name === element.name &&
      each.attribs.id === element.attribs.id &&
      each.attribs.class === element.attribs.class
    )
      return true;
  return false;
}

/** A private-use character marks where the section of the URL's fragment starts, until the text is made. */
const mark = "\ue001";

function markSection(document: Document, url: string): string | undefined {
  const id = URL.canParse(url) ? fragmentOf(new URL(url).hash) : "";
  if (id === "") return undefined;
  for (const element of elementsIn(document)) {
    if (element.attribs.id !== id && !(element.name === "a" && element.attribs.name === id)) continue;
    const place = firstText(element) ?? (element.parent instanceof Element ? firstText(element.parent) : undefined);
    if (place) place.data = mark + place.data;
    return place ? id : undefined;
  }
  return undefined;
}

function fragmentOf(hash: string): string {
  try {
    return decodeURIComponent(hash.slice(1));
  } catch (error) {
    if (error instanceof URIError) return hash.slice(1);
    throw error;
  }
}

function firstText(element: Element): Text | undefined {
  for (const child of element.children) {
    if (child instanceof Text && squeeze(child.data) !== "") return child;
    const inner = child instanceof Element ? firstText(child) : undefined;
    if (inner) return inner;
  }
  return undefined;
}

function removeMark(content: string): { text: string; at: number } {
  const at = content.indexOf(mark);
  return at < 0 ? { text: content, at } : { text: content.slice(0, at) + content.slice(at + 1), at };
}

function withSection(
  content: string,
  id: string | undefined,
): { content: string; section?: { id: string; offset: number } } {
  const { text, at } = removeMark(content);
  if (id === undefined || at < 0) return { content: text };
  // The section starts with its line: heading marks stand before the text.
  return { content: text, section: { id, offset: text.lastIndexOf("\n", at - 1) + 1 } };
}
