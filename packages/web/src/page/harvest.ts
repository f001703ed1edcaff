import { type Document, Element, type ParentNode } from "domhandler";
import { elementsIn, squeeze, textContent } from "./dom.ts";
import { parseLenient } from "./lenient-json.ts";
import type { PageData } from "./types.ts";

/** Bytes of embedded state that are read; more is kept out. */
const mostState = 3_000_000;

/** JSON-LD, microdata and embedded application state of a page, read before anything is cleaned. */
export function harvestData(document: Document): PageData {
  const jsonLd: unknown[] = [];
  const microdata: unknown[] = [];
  const embedded: Record<string, unknown> = {};
  let left = mostState;
  for (const element of elementsIn(document)) {
    if (element.attribs.itemscope !== undefined && element.attribs.itemprop === undefined && microdata.length < 500)
      microdata.push(microItem(element, 0));
    if (element.name !== "script") continue;
    const type = (element.attribs.type ?? "").toLowerCase().trim();
    const isState = type.includes("json") || /__(?:NEXT_DATA|NUXT)/.test(element.attribs.id ?? "");
    if (!isState && type !== "" && !type.includes("javascript")) continue;
    const source = textContent(element);
    if (isState) {
      left -= source.length;
      if (left < 0) continue;
      const value = parseLenient(source);
      if (value === undefined) continue;
      if (type.includes("ld+json")) jsonLd.push(...graphOf(value));
      else embedded[element.attribs.id ?? `json${Object.keys(embedded).length}`] = value;
    } else if (source.length < left) {
      // State that is plain JSON after an assignment; anything that would have to be run is left alone.
      const assigned =
        /(?:window\.|self\.|globalThis\.)?(__NUXT__|__INITIAL_STATE__|__PRELOADED_STATE__|__APOLLO_STATE__|__NEXT_DATA__)\s*=\s*(\{[\s\S]*\})\s*;?\s*$/.exec(
          source,
        );
      const value = assigned ? parseLenient(assigned[2] ?? "") : undefined;
      if (assigned?.[1] && value !== undefined) {
        left -= source.length;
        embedded[assigned[1]] = value;
      }
    }
  }
  return { jsonLd, microdata, embedded };
}

function graphOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(graphOf);
  if (isRecord(value) && Array.isArray(value["@graph"])) return value["@graph"].flatMap(graphOf);
  return [value];
}

function microItem(element: Element, depth: number): Record<string, unknown> {
  const item: Record<string, unknown> = {};
  const type = element.attribs.itemtype;
  if (type)
    item["@type"] = type
      .split(/\s+/)
      .map((each) => each.replace(/^.*[/#]/, ""))
      .join(" ");
  const visit = (parent: ParentNode): void => {
    for (const child of parent.children) {
      if (!(child instanceof Element)) continue;
      const names = child.attribs.itemprop?.split(/\s+/).filter(Boolean) ?? [];
      if (names.length > 0) {
        const value =
          child.attribs.itemscope !== undefined && depth < 6 ? microItem(child, depth + 1) : microValue(child);
        for (const name of names) {
          const before = item[name];
          item[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
        }
      }
      if (child.attribs.itemscope === undefined) visit(child);
    }
  };
  visit(element);
  return item;
}

/** @see https://html.spec.whatwg.org/multipage/microdata.html#values */
export function microValue({ name, attribs, children }: Element): string {
  if (attribs.content !== undefined) return attribs.content;
  if (name === "time" && attribs.datetime !== undefined) return attribs.datetime;
  if (/^(?:a|area|link)$/.test(name) && attribs.href !== undefined) return attribs.href;
  if (/^(?:img|audio|video|source|embed|iframe|track)$/.test(name) && attribs.src !== undefined) return attribs.src;
  if ((name === "data" || name === "meter") && attribs.value !== undefined) return attribs.value;
  return squeeze(children.map((child) => textContent(child)).join(""));
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** All records in a value, outermost first, to a sane depth. */
export function* recordsIn(value: unknown, depth = 0): Generator<Record<string, unknown>> {
  if (depth > 40) return;
  if (Array.isArray(value)) for (const item of value) yield* recordsIn(item, depth + 1);
  else if (isRecord(value)) {
    yield value;
    for (const inner of Object.values(value))
      if (typeof inner === "object" && inner !== null) yield* recordsIn(inner, depth + 1);
  }
}

/** Types a record of JSON-LD or microdata names itself, without the schema's address. */
export function typesOf(record: Record<string, unknown>): string[] {
  const given = record["@type"];
  const list = Array.isArray(given) ? given : [given];
  return list.filter((each): each is string => typeof each === "string").map((each) => each.replace(/^.*[/#:]/, ""));
}
