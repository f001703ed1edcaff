import { nearest, toJsonSchema } from "@toolhaft/core";
import { analyse } from "@toolhaft/text";
import MiniSearch from "minisearch";
import type { Entry } from "./catalogue.ts";

/** Entries that fit a query, best first. */
export type SearchIndex = (query: string) => readonly Entry[];

const boost = { name: 4, keywords: 3, title: 2, description: 1, parameters: 1 } as const;

interface Document extends Record<keyof typeof boost, string> {
  id: string;
}

/**
 * BM25 over name, keywords, title, description and parameter names; words begun from three letters on, one slip in five
 * letters. Ties by name. A query that is itself like a name also finds that name.
 *
 * @see https://lucaong.github.io/minisearch/
 */
export function rankTools(entries: readonly Entry[]): SearchIndex {
  const byName = new Map(entries.map((entry) => [entry.tool.name, entry]));
  const index = new MiniSearch<Document>({
    fields: Object.keys(boost),
    tokenize: analyse,
    processTerm: (term) => term,
    searchOptions: {
      boost,
      prefix: (term) => term.length >= 3,
      fuzzy: (term) => (term.length >= 5 ? 0.2 : false),
    },
  });
  index.addAll(entries.map(documentOf));
  return (query) => {
    const hits = index.search(query).sort((a, b) => b.score - a.score || (String(a.id) < String(b.id) ? -1 : 1));
    const names = hits.map(({ id }) => String(id));
    const like = /\s/.test(query.trim()) ? [] : nearest(query.trim(), byName.keys());
    // An exact or nearly exact name stands first.
    const ordered = [...new Set([...like.filter((name) => isSlip(query, name)), ...names, ...like])];
    return ordered.flatMap((name) => byName.get(name) ?? []);
  };
}

/** Whether a one-word query can only mean this name: as long, and with the same letters but for a slip or two. */
function isSlip(query: string, name: string): boolean {
  const word = query.trim().toLowerCase();
  return (
    word === name ||
    (Math.abs(word.length - name.length) <= 2 &&
      nearest(word, [name], 1).length === 1 &&
      word.includes("_") === name.includes("_"))
  );
}

function documentOf({ tool }: Entry): Document {
  const parameters = Object.keys((toJsonSchema(tool, "mcp").properties ?? {}) as object);
  return {
    id: tool.name,
    name: tool.name.replaceAll("_", " "),
    keywords: tool.keywords.join(" "),
    title: tool.title,
    description: tool.description,
    parameters: parameters.join(" ").replaceAll("_", " "),
  };
}
