import { createId } from "@toolhaft/core";
import type { ExportRecord, MemoryStore } from "../src/index.ts";

export interface Row {
  title: string;
  content: string;
  vector?: Float32Array;
}

/** Puts many memories of scope workspace into a store at once, by way of import; gives their ids in order. */
export async function loadRows(store: MemoryStore, rows: readonly Row[], model = "random"): Promise<string[]> {
  const now = Date.now();
  const ids = rows.map(() => `mem_${createId(now)}`);
  for (let from = 0; from < rows.length; from += 1_000) {
    const records = rows.slice(from, from + 1_000).map(
      ({ title, content, vector }, n): ExportRecord => ({
        type: "memory",
        value: {
          id: ids[from + n] ?? "",
          workspace: ".",
          scope: "workspace",
          role: null,
          thread: title,
          title,
          content,
          category: "note",
          relevance: "medium",
          tags: [],
          about: [],
          confidence: 1,
          kind: "note",
          version: 1,
          createdAt: now,
          updatedAt: now,
          supersededBy: null,
          forgottenAt: null,
          uses: 0,
          lastUsedAt: null,
          provenance: { agent: "main", sessionId: "", callId: "", tool: "import" },
          history: [],
          vector: vector === undefined ? null : { model, values: [...vector] },
        },
      }),
    );
    await store.load(records, { onConflict: "error" });
  }
  return ids;
}

/** The same numbers on every run, from -0.5 to 0.5. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32 - 0.5;
  };
}
