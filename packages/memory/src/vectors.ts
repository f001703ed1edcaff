import { isToolError, maskSecrets, ToolError } from "@toolhaft/core";
import type { Degraded } from "./model.ts";
import type { Embedder } from "./options.ts";
import type { Caller, Filter, MemoryStore } from "./store.ts";

/** Milliseconds an embedder may take. */
const embedTimeoutMs = 5_000;
const batch = 64;

/** Embeds memories that have no vector yet, a batch at most; what fails stays pending for a later call. */
export async function fillPending(
  embedder: Embedder,
  store: MemoryStore,
  caller: Caller,
  signal: AbortSignal,
): Promise<void> {
  const pending = await store.vectors.pending(caller, embedder.model, batch);
  if (pending.length === 0) return;
  const vectors = await embed(
    embedder,
    pending.map(({ text }) => text),
    "document",
    signal,
  );
  await store.vectors.put(
    caller,
    pending.flatMap(({ id }, index) => {
      const vector = vectors[index];
      return vector ? [{ id, model: embedder.model, vector }] : [];
    }),
  );
}

export interface VectorHits {
  cosines: ReadonlyMap<string, number>;
  degraded: Degraded[];
}

/** The nearest memories by meaning; a failing embedder gives none and says so. */
export async function searchByMeaning(
  embedder: Embedder,
  store: MemoryStore,
  caller: Caller,
  query: string,
  filter: Filter,
  signal: AbortSignal,
): Promise<VectorHits> {
  try {
    await fillPending(embedder, store, caller, signal);
    const [vector] = await embed(embedder, [query], "query", signal);
    if (!vector) throw new ToolError("upstream", "the embedder gave no vector for the query");
    const found = await store.vectors.search(caller, { ...filter, model: embedder.model, vector, limit: 100 }, signal);
    return { cosines: new Map(found.map(({ id, cosine }) => [id, cosine])), degraded: [] };
  } catch (error) {
    if (signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
    const code = isToolError(error) ? error.code : "upstream";
    const message = maskSecrets(error instanceof Error ? error.message : String(error));
    return { cosines: new Map(), degraded: [{ part: "vectors", code, message }] };
  }
}

async function embed(
  embedder: Embedder,
  texts: readonly string[],
  kind: "document" | "query",
  signal: AbortSignal,
): Promise<readonly Float32Array[]> {
  const timeout = AbortSignal.timeout(embedTimeoutMs);
  const both = AbortSignal.any([signal, timeout]);
  const vectors = await Promise.race([embedder.embed(texts, kind, both), ended(both, timeout)]);
  if (vectors.length !== texts.length) {
    throw new ToolError("upstream", `the embedder gave ${vectors.length} vectors for ${texts.length} texts`);
  }
  for (const vector of vectors) {
    if (vector.length !== embedder.dimensions) {
      throw new ToolError(
        "upstream",
        `the embedder gave ${vector.length} dimensions instead of ${embedder.dimensions}`,
      );
    }
  }
  return vectors;
}

function ended(signal: AbortSignal, timeout: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () =>
      reject(
        timeout.aborted
          ? new ToolError("timeout", `the embedder took over ${embedTimeoutMs} ms`)
          : new ToolError("cancelled", "the call was cancelled"),
      );
    if (signal.aborted) fail();
    else signal.addEventListener("abort", fail, { once: true });
  });
}
