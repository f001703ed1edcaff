import { createId } from "@toolhaft/core";
import { type Database, openDatabase } from "@toolhaft/sqlite";
import { ftsMatch, stopWords } from "@toolhaft/text";
import MiniSearch from "minisearch";
import { stemmer } from "stemmer";
import { createMemory, type ExportRecord, type MemoryStore, sqliteMemoryStore } from "../src/index.ts";
import type { Collection, Document } from "./data.ts";

/** A way to search: ids of the best 50 documents for a question. */
export interface Engine {
  search(question: string): Promise<string[]> | string[];
  close(): Promise<void> | void;
}

export interface EngineKind {
  name: string;
  /** In a folder of its own. */
  build(collection: Pick<Collection, "documents">, folder: string): Promise<Engine>;
}

const ranks = 50;

export const ours: EngineKind = {
  name: "@toolhaft/memory",
  async build({ documents }, folder) {
    const store = sqliteMemoryStore({ path: `${folder}/ours.db` });
    const ids = await fill(store, documents);
    const family = createMemory({ store, recordUse: false });
    return {
      async search(question) {
        const { hits } = await family.search({ workspace: ".", agent: "bench" }, { query: question, limit: ranks });
        return hits.map(({ id }) => ids.get(id) ?? "");
      },
      close: () => family.close(),
    };
  },
};

/** Stores documents as memories written now, by way of import; gives the document of each memory. */
export async function fill(
  store: MemoryStore,
  documents: readonly Document[],
  role = "bench",
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const now = Date.now();
  for (let from = 0; from < documents.length; from += 500) {
    const batch = documents.slice(from, from + 500).map((document) => {
      const id = `mem_${createId(now)}`;
      ids.set(id, document.id);
      return memoryRecord(id, document, now, role);
    });
    await store.load(batch, { onConflict: "error" });
  }
  return ids;
}

function memoryRecord(id: string, { body, about, thread }: Document, now: number, role: string): ExportRecord {
  return {
    type: "memory",
    value: {
      id,
      workspace: ".",
      scope: role === "bench" ? "workspace" : "role",
      role: role === "bench" ? null : role,
      thread,
      title: "turn",
      content: body,
      category: "note",
      relevance: "medium",
      tags: [],
      about,
      confidence: 1,
      kind: "note",
      version: 1,
      createdAt: now,
      updatedAt: now,
      supersededBy: null,
      forgottenAt: null,
      uses: 0,
      lastUsedAt: null,
      provenance: { agent: role, sessionId: thread, callId: "", tool: "bench" },
      history: [],
      vector: null,
    },
  };
}

const wordPattern = /[\p{L}\p{N}]+/gu;

export function words(text: string): string[] {
  return text.toLowerCase().match(wordPattern) ?? [];
}

export function contentWords(text: string): string[] {
  const all = [...new Set(words(text))];
  const kept = all.filter((word) => !stopWords.has(word));
  return kept.length > 0 ? kept : all;
}

export async function openFts(folder: string, name: string, tokenizer: string): Promise<Database> {
  const db = await openDatabase({
    path: `${folder}/${name}.db`,
    family: "bench",
    migrations: [
      {
        version: 1,
        name: "plain",
        up: (made) => {
          made.run(
            "CREATE TABLE docs(row INTEGER PRIMARY KEY, id TEXT NOT NULL, body TEXT NOT NULL, about TEXT NOT NULL)",
          );
          made.run(
            `CREATE VIRTUAL TABLE fts USING fts5(body, about, content='docs', content_rowid='row', tokenize='${tokenizer}')`,
          );
          made.run(
            "CREATE TRIGGER docs_in AFTER INSERT ON docs BEGIN INSERT INTO fts(rowid, body, about) VALUES(new.row, new.body, new.about); END",
          );
        },
      },
    ],
  });
  return db;
}

function fts(name: string, tokenizer: string, match: (question: string) => string): EngineKind {
  return {
    name,
    async build({ documents }, folder) {
      const db = await openFts(folder, name.replace(/\W+/g, "-"), tokenizer);
      await db.write(() => {
        for (const { id, body, about } of documents)
          db.run("INSERT INTO docs(id, body, about) VALUES(?, ?, ?)", [id, body, about.join(" ")]);
      });
      return { search: (question) => searchFts(db, match(question)), close: () => db.close() };
    },
  };
}

/** A query that SQLite refuses finds nothing, which is what its user sees. */
export function searchFts(db: Database, match: string): string[] {
  if (match === "") return [];
  try {
    return db
      .all<{ id: string }>(
        `SELECT d.id FROM fts JOIN docs d ON d.row = fts.rowid WHERE fts MATCH ? ORDER BY bm25(fts) LIMIT ${ranks}`,
        [match],
      )
      .map(({ id }) => id);
  } catch {
    return [];
  }
}

function trigrams(text: string): string[] {
  const grams = new Set<string>();
  for (const word of text.toLowerCase().split(/\s+/)) {
    const letters = [...word];
    for (let at = 0; at + 3 <= letters.length; at++) grams.add(letters.slice(at, at + 3).join(""));
  }
  return [...grams];
}

const stem = (term: string) => (stopWords.has(term) ? null : stemmer(term));

function minisearch(name: string, processTerm?: (term: string) => string | null): EngineKind {
  return {
    name,
    async build({ documents }) {
      const index = new MiniSearch<Document>({
        fields: ["body", "about"],
        extractField: (document, field) =>
          field === "id" ? document.id : field === "about" ? document.about.join(" ") : document.body,
        ...(processTerm && { processTerm: (term: string) => processTerm(term.toLowerCase()) }),
      });
      index.addAll(documents);
      return {
        search: (question) =>
          index
            .search(question)
            .slice(0, ranks)
            .map(({ id }) => String(id)),
        close: () => undefined,
      };
    },
  };
}

function orama(name: string, stems: boolean): EngineKind {
  return {
    name,
    async build({ documents }) {
      const { create, insertMultiple, search } = await import("@orama/orama");
      const tokenizer = {
        language: "english",
        normalizationCache: new Map<string, string>(),
        tokenize: (raw: string) => [...new Set(words(raw).flatMap((word) => stem(word) ?? []))],
      };
      const db = create({
        schema: { key: "string", body: "string", about: "string" } as const,
        ...(stems && { components: { tokenizer } }),
      });
      await insertMultiple(
        db,
        documents.map(({ id, body, about }) => ({ key: id, body, about: about.join(" ") })),
      );
      return {
        async search(question) {
          const found = await search(db, { term: question, properties: ["body", "about"], limit: ranks });
          return found.hits.map(({ document }) => document.key);
        },
        close: () => undefined,
      };
    },
  };
}

export const peers: readonly EngineKind[] = [
  fts("FTS5, question straight into MATCH", "unicode61", (question) => question),
  fts("FTS5 unicode61, all words (AND)", "unicode61", (question) => ftsMatch(words(question), "all")),
  fts("FTS5 unicode61, OR", "unicode61", (question) => ftsMatch([...new Set(words(question))])),
  fts("FTS5 trigram, OR of 3-grams", "trigram", (question) => ftsMatch(trigrams(question))),
  fts("FTS5 porter, OR, stop words dropped", "porter unicode61", (question) => ftsMatch(contentWords(question))),
  minisearch("minisearch, default"),
  minisearch("minisearch, stop words and porter", stem),
  orama("orama, default", false),
  orama("orama, stop words and porter", true),
];
