import { createNonce, type Family, type ToolContext, ToolError } from "@toolhaft/core";
import { checkWellFormed, invalid, lengthOf, screen, withoutSecrets } from "./checks.ts";
import { type Extractor, extractWith, type Piece } from "./extract.ts";
import { checkPiece, type PieceOutcome, storePiece } from "./fragments.ts";
import { createHost, type MemoryHost } from "./host.ts";
import { memoryShelf } from "./memory.ts";
import type { Degraded, Hit, Warning } from "./model.ts";
import { createNotes, type Notes, type NotesOptions } from "./notes.ts";
import { callerOf, nowOf, provenanceOf } from "./options.ts";
import { search } from "./search.ts";
import type { MemoryStore, StoreStats } from "./store.ts";
import { addFragmentTool } from "./tools/semantic-add.ts";
import { forgetFragmentTool } from "./tools/semantic-forget.ts";
import { searchFragmentsTool } from "./tools/semantic-search.ts";
import { statsTool } from "./tools/semantic-stats.ts";
import { iso } from "./view.ts";

/** What the host does by itself with this memory; the package does neither. */
export interface HostDeclaration {
  /** False: add and forget are not part of the family. @default true */
  enabled?: boolean;
  /** The host stores fragments of conversations. @default false */
  autoMemorize?: boolean;
  /** The host puts recalled fragments into prompts. @default false */
  autoRecall?: boolean;
}

export interface SemanticMemoryOptions extends NotesOptions {
  /** @default SQLite in the state folder of the call */
  store?: MemoryStore;
  /** Takes a text apart into what is worth keeping. @default one fragment, the text itself */
  extractor?: Extractor;
  host?: HostDeclaration;
}

export interface SemanticSearchData {
  query: string;
  fence: string;
  mode: "hybrid" | "lexical";
  hits: Hit[];
  belowConfidence: number;
  /** Of those below; null when there are none. */
  highestBelow: number | null;
  visible: number;
  degraded: Degraded[];
  nextCursor: null;
}

export interface SemanticAddData {
  outcome: "added" | "merged" | "duplicate" | "rejected" | "nothing";
  memories: { id: string; action: "added" | "merged" | "kept"; content: string; before: string | null }[];
  reason: string;
  extractor: string;
  warnings: Warning[];
}

export interface SemanticStats extends Omit<StoreStats, "oldest" | "newest"> {
  oldest: string | null;
  newest: string | null;
  embedder: { model: string; dimensions: number } | null;
  extractor: "rules" | "host";
  autoMemorize: boolean;
  autoRecall: boolean;
  enabled: boolean;
}

export interface Fragments {
  notes: Notes;
  search(
    input: { query: string; limit: number; min_confidence: number },
    ctx: ToolContext,
  ): Promise<SemanticSearchData>;
  add(input: { content: string }, ctx: ToolContext): Promise<SemanticAddData>;
  stats(ctx: ToolContext): Promise<SemanticStats>;
}

export type SemanticMemoryFamily = Family & MemoryHost;

/**
 * Fragments found by meaning: another face of the pool that `createMemory` keeps, under the same ids. Works by words
 * without an embedder.
 */
export function createSemanticMemory(options: SemanticMemoryOptions = {}): SemanticMemoryFamily {
  const shelf = memoryShelf(options);
  const notes = createNotes(options, shelf);
  const { settings } = notes;
  const nonce = options.random ?? createNonce;
  const { enabled = true, autoMemorize = false, autoRecall = false } = options.host ?? {};
  const fragments: Fragments = { notes, search: searchFragments, add, stats };
  const close = async () => shelf[Symbol.asyncDispose]();
  const changing = enabled ? [addFragmentTool(fragments), forgetFragmentTool(fragments)] : [];
  return {
    name: "semantic-memory",
    tools: [searchFragmentsTool(fragments), ...changing, statsTool(fragments)],
    close,
    [Symbol.asyncDispose]: close,
    ...createHost(options, settings, shelf),
  };

  async function searchFragments(
    input: { query: string; limit: number; min_confidence: number },
    ctx: ToolContext,
  ): Promise<SemanticSearchData> {
    const caller = callerOf(ctx, options);
    const length = lengthOf(input.query);
    if (length > 1_000) throw invalid(`query has ${length} characters`, "at most 1,000 are allowed: ask shorter");
    const now = nowOf(ctx, options);
    return shelf.use(ctx, async (store) => {
      const whole = { scope: "both", category: null, tags: [], about: [], full: false, offset: 0 } as const;
      const found = await search(
        store,
        caller,
        { ...whole, query: input.query, limit: 200 },
        now,
        settings,
        ctx.signal,
      );
      const kept = found.hits.filter(({ confidence }) => confidence >= input.min_confidence);
      const below = found.hits.filter(({ confidence }) => confidence < input.min_confidence);
      const hits = kept.slice(0, input.limit);
      if (settings.recordUse && hits.length > 0) {
        await store
          .recordUse(
            caller,
            hits.map(({ id }) => id),
            now,
          )
          .catch(() => undefined);
      }
      return {
        query: input.query,
        fence: nonce(),
        mode: settings.embedder && found.degraded.length === 0 ? "hybrid" : "lexical",
        hits,
        belowConfidence: below.length,
        highestBelow: below.length === 0 ? null : Math.max(...below.map(({ confidence }) => confidence)),
        visible: found.visible,
        degraded: found.degraded,
        nextCursor: null,
      };
    });
  }

  async function add(input: { content: string }, ctx: ToolContext): Promise<SemanticAddData> {
    const caller = callerOf(ctx, options);
    checkWellFormed("content", input.content);
    const length = lengthOf(input.content);
    if (length > 16_000) throw invalid(`content has ${length} characters`, "at most 16,000 are taken: split it");
    const extractor = options.extractor ? "host" : "rules";
    if (!/[\p{L}\p{N}]/u.test(input.content)) {
      return {
        outcome: "rejected",
        memories: [],
        reason: "the content has no letters or digits",
        extractor,
        warnings: [],
      };
    }
    const { texts, warnings } = screen({ content: input.content }, settings.secrets);
    const { pieces, reason } = await extractWith(options.extractor, texts.content ?? input.content, ctx);
    if (pieces.length === 0) return { outcome: "nothing", memories: [], reason, extractor, warnings };
    const screened = pieces.map((piece) => {
      const { texts } = screen({ title: piece.title, content: piece.content }, settings.secrets);
      return checkPiece({ ...piece, ...texts }, settings.limits);
    });
    return shelf.use(ctx, async (store) => {
      const outcomes = await storeAll(store, screened, caller, ctx);
      return summary(outcomes, extractor, warnings);
    });
  }

  async function storeAll(
    store: MemoryStore,
    pieces: readonly Piece[],
    caller: ReturnType<typeof callerOf>,
    ctx: ToolContext,
  ) {
    const outcomes: PieceOutcome[] = [];
    for (const piece of pieces) {
      const by = provenanceOf(ctx, "memory_semantic_add");
      outcomes.push(
        await storePiece(store, caller, piece, { by, at: nowOf(ctx, options), limits: settings.limits, ctx }),
      );
    }
    return outcomes;
  }

  async function stats(ctx: ToolContext): Promise<SemanticStats> {
    const caller = callerOf(ctx, options);
    return shelf.use(ctx, async (store) => {
      const found = await store.stats(caller, ctx.signal);
      const { embedder } = settings;
      return {
        ...found,
        oldest: found.oldest === null ? null : iso(found.oldest),
        newest: found.newest === null ? null : iso(found.newest),
        pendingVectors: embedder ? await store.vectors.countPending(caller, embedder.model) : 0,
        embedder: embedder ? { model: embedder.model, dimensions: embedder.dimensions } : null,
        extractor: options.extractor ? "host" : "rules",
        autoMemorize,
        autoRecall,
        enabled,
      };
    });
  }
}

/** One word for all pieces: the most that was done to any of them. */
function summary(outcomes: readonly PieceOutcome[], extractor: string, warnings: Warning[]): SemanticAddData {
  const order = ["added", "merged", "duplicate"] as const;
  const outcome = order.find((word) => outcomes.some((one) => one.outcome === word));
  if (!outcome) throw new ToolError("internal", "no piece was stored and none was kept");
  return {
    outcome,
    memories: withoutSecrets(outcomes.map(({ memory }) => memory)),
    reason: outcomes.map(({ reason }) => reason).join("; "),
    extractor,
    warnings,
  };
}
