import { analyse, excerpt, foldText } from "@toolhaft/text";
import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { type Asset, compareText, fits } from "../../model.ts";
import type { AssetQuery, SearchPage } from "../../store.ts";
import { queryTerms } from "../../terms.ts";
import { type AssetIndex, matchedFields } from "./index-file.ts";
import { mostIndexed } from "./record.ts";
import type { Placed, Snapshot } from "./snapshot.ts";
import type { FileTexts } from "./texts.ts";

/** Characters before the word that is shown. */
const lead = 50;
/** Characters of a snippet. */
const snippetChars = 160;

/** One page of what the index holds for a query, exact names first, then by score. */
export function searchPage(snapshot: Snapshot, index: AssetIndex, query: AssetQuery, texts: FileTexts): SearchPage {
  const question = [query.text, query.type ?? "all", query.role ?? null];
  const offset = decodeCursor(snapshot.version, question, query.cursor);
  const terms = queryTerms(query.text);
  const accepted = <T extends { document: number; score: number }>(rows: readonly T[]) =>
    rows.flatMap((row) => {
      const placed = snapshot.byDocument.get(row.document);
      if (!placed || placed.asset.shadowedBy !== undefined) return [];
      if (!fits(placed.asset, query.type, query.role) || query.accept?.(placed.asset) === false) return [];
      return [{ placed, row, score: row.score }];
    });
  const exact = foldText(query.text);
  const ranked = accepted(index.search(terms)).map((hit) => ({
    ...hit,
    exact: foldText(hit.placed.asset.name) === exact,
  }));
  ranked.sort(
    (a, b) => Number(b.exact) - Number(a.exact) || b.score - a.score || compareAssets(a.placed.asset, b.placed.asset),
  );
  const end = offset + query.limit;
  const page = ranked.slice(offset, end);
  const words = snippetWords(query.text);
  const near = ranked.length > 0 ? [] : accepted(index.near(terms));
  near.sort((a, b) => b.score - a.score || compareAssets(a.placed.asset, b.placed.asset));
  return {
    hits: page.map(({ placed, row, score }) => {
      const matched = matchedFields(row);
      const snippet = matched.includes("body") ? snippetOf(placed, words, texts) : undefined;
      return {
        asset: placed.asset,
        score: Math.round(score * 1e4) / 1e4,
        matched,
        ...(snippet !== undefined && { snippet }),
      };
    }),
    total: ranked.length,
    near: near.slice(0, 5).map(({ placed }) => placed.asset),
    ...(end < ranked.length && { nextCursor: encodeCursor(snapshot.version, question, end) }),
    notes: snapshot.notes,
  };
}

function snippetOf({ entry, facts }: Placed, words: SnippetWords, texts: FileTexts): string | undefined {
  if (facts.fragment !== "") return undefined;
  const text = texts.read(entry.found.real, entry.record.version)?.slice(0, mostIndexed);
  if (text === undefined) return undefined;
  const [from, to] = around(text, words);
  const shown = text.slice(from, to).replace(/\s+/g, " ").trim();
  if (shown === "") return undefined;
  return `${text.slice(0, from).trim() === "" ? "" : "…"}${shown}${text.slice(to).trim() === "" ? "" : "…"}`;
}

/** What to look for in a text: words as they were typed, and the terms of the index. */
interface SnippetWords {
  typed: readonly string[];
  terms: readonly string[];
}

function snippetWords(query: string): SnippetWords {
  const typed = query.toLowerCase().split(/[^\p{L}\p{N}\p{M}]+/u);
  return { typed: typed.filter((word) => word !== ""), terms: analyse(query) };
}

/** The stretch around the first word, between blanks; analysing the text is left to the case where none stands in it. */
function around(text: string, { typed, terms }: SnippetWords): [from: number, to: number] {
  if (text.length <= snippetChars) return [0, text.length];
  const lower = text.toLowerCase();
  const first = lower.length === text.length ? (earliest(lower, typed) ?? earliest(lower, terms)) : undefined;
  if (first === undefined) {
    const { text: part } = excerpt(text, terms, snippetChars);
    const at = Math.max(0, text.indexOf(part));
    return [at, at + part.length];
  }
  const from = first <= lead ? 0 : afterBlank(text, first - lead, first);
  const to = Math.min(text.length, from + snippetChars);
  return [from, to === text.length ? to : whole(text, beforeBlank(text, to, first))];
}

function earliest(lower: string, words: readonly string[]): number | undefined {
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  return places.length === 0 ? undefined : Math.min(...places);
}

function afterBlank(text: string, from: number, to: number): number {
  for (let at = from; at < to; at++) if (/\s/.test(text[at] ?? "")) return at + 1;
  return whole(text, from);
}

function beforeBlank(text: string, end: number, from: number): number {
  for (let at = end; at > Math.max(from, end - lead); at--) if (/\s/.test(text[at] ?? "")) return at;
  return end;
}

/** Not between the halves of a code point. */
function whole(text: string, at: number): number {
  return /[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at;
}

function compareAssets(a: Asset, b: Asset): number {
  return compareText(a.name, b.name) || compareText(a.path, b.path);
}
