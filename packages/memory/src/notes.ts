import { createId, createNonce, type ToolContext, ToolError } from "@toolhaft/core";
import { foldText } from "@toolhaft/text";
import { checkContent, checkId, checkLine, checkNames, invalid, lengthOf, screen, withoutSecrets } from "./checks.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { Category, Degraded, Hit, Memory, Relevance, Scope, State, Warning } from "./model.ts";
import {
  callerOf,
  nowOf,
  type PlaceOptions,
  provenanceOf,
  type SearchOptions,
  type Settings,
  settingsOf,
} from "./options.ts";
import { search } from "./search.ts";
import type { Shelf } from "./shelf.ts";
import { findSimilar, type Similar } from "./similar.ts";
import type {
  Caller,
  Filter,
  ForgetOutcome,
  MemoryRecord,
  MemoryStore,
  ScopeChoice,
  Sort,
  UpdateOutcome,
} from "./store.ts";
import { termsOf } from "./terms.ts";
import { fillPending } from "./vectors.ts";
import { iso, toMemory } from "./view.ts";

/** Code points of one answer's entries; the rest of a reply's 30,000 is for its frame. */
const pageChars = 24_000;

export interface WriteInput {
  title: string;
  content: string;
  category: Category;
  scope: Scope;
  tags?: readonly string[] | undefined;
  relevance: Relevance;
  about?: readonly string[] | undefined;
  supersedes?: string | undefined;
}

export interface WriteData {
  status: "stored" | "duplicate";
  memory: Memory;
  supersededId: string | null;
  differs: string[];
  similar: Similar[];
  warnings: Warning[];
}

export interface RecallInput {
  query: string;
  scope: ScopeChoice;
  category?: Category | undefined;
  limit: number;
  tags?: readonly string[] | undefined;
  about?: readonly string[] | undefined;
  full: boolean;
  cursor?: string | undefined;
}

export interface RecallData {
  query: string;
  fence: string;
  hits: Hit[];
  matched: number;
  matchedIsFloor: boolean;
  visible: number;
  terms: { used: string[]; ignored: string[] };
  degraded: Degraded[];
  nextCursor: string | null;
  warnings: Warning[];
}

export interface ListInput {
  scope: ScopeChoice;
  category?: Category | undefined;
  limit: number;
  sort: Sort;
  state: State;
  tags?: readonly string[] | undefined;
  cursor?: string | undefined;
}

export interface GetData {
  fence: string;
  memory: Memory;
  content: string;
  offset: number;
  nextOffset: number | null;
  history: {
    version: number;
    at: string;
    agent: string;
    sessionId: string;
    kind: string;
    before: Record<string, unknown> | null;
  }[];
}

export interface UpdateInput {
  id: string;
  title?: string | undefined;
  content?: string | undefined;
  category?: Category | undefined;
  tags?: readonly string[] | undefined;
  relevance?: Relevance | undefined;
  about?: readonly string[] | undefined;
  expected_version?: number | undefined;
}

export type NotesOptions = PlaceOptions & SearchOptions;

/** What the tools of notes and fragments do, without schemas and texts. */
export interface Notes {
  readonly settings: Settings;
  write(input: WriteInput, ctx: ToolContext): Promise<WriteData>;
  recall(input: RecallInput, ctx: ToolContext): Promise<RecallData>;
  list(
    input: ListInput,
    ctx: ToolContext,
  ): Promise<{ fence: string; memories: Memory[]; total: number; nextCursor: string | null }>;
  get(
    input: { id: string; offset: number; max_chars: number; include_history: boolean },
    ctx: ToolContext,
  ): Promise<GetData>;
  update(input: UpdateInput, ctx: ToolContext): Promise<{ memory: Memory; changed: string[]; warnings: Warning[] }>;
  forget(
    input: { id: string; restore: boolean; reason?: string | undefined },
    ctx: ToolContext,
    tool?: string,
  ): Promise<{ memory: Memory; already: boolean; replaced: string | null }>;
}

export function createNotes(options: NotesOptions, shelf: Shelf<MemoryStore>): Notes {
  const settings = settingsOf(options);
  const { limits } = settings;
  const nonce = options.random ?? createNonce;

  return {
    settings,
    async write(input, ctx) {
      const caller = callerOf(ctx, options);
      if (input.supersedes !== undefined) checkId("supersedes", input.supersedes, "memory");
      const { draft, warnings } = draftOf(input);
      const now = nowOf(ctx, options);
      return shelf.use(ctx, async (store) => {
        const outcome = await store.write(
          caller,
          {
            ...draft,
            id: `mem_${createId(now)}`,
            scope: input.scope,
            category: input.category,
            relevance: input.relevance,
            confidence: 1,
            kind: "note",
            terms: termsOf(draft),
            supersedes: input.supersedes ?? null,
            by: provenanceOf(ctx, "memory_write"),
            at: now,
            limit: limits.memories,
          },
          ctx.signal,
        );
        if (outcome.kind === "missing") throw notFound();
        if (outcome.kind === "not_live") throw notLive(input.supersedes ?? "", outcome, ctx);
        if (outcome.kind === "other_scope") throw otherScope(input.supersedes ?? "", outcome.scope);
        if (outcome.kind === "full") throw full(outcome.live, ctx);
        const memory = withoutSecrets(toMemory(outcome.record, now, settings.halfLives));
        if (outcome.kind === "duplicate") {
          return {
            status: "duplicate",
            memory,
            supersededId: null,
            differs: differences(outcome.record, input, draft),
            similar: [],
            warnings,
          };
        }
        if (outcome.live >= limits.memoriesNote) warnings.push(nearlyFull(outcome.live, limits.memories));
        await embedQuietly(store, caller, ctx);
        const similar = withoutSecrets(await findSimilar(store, caller, outcome.record, ctx.signal));
        return { status: "stored", memory, supersededId: input.supersedes ?? null, differs: [], similar, warnings };
      });
    },

    async recall(input, ctx) {
      const caller = callerOf(ctx, options);
      const length = lengthOf(input.query);
      if (length > 1_000) throw invalid(`query has ${length} characters`, "at most 1,000 are allowed: ask shorter");
      const now = nowOf(ctx, options);
      const { cursor, limit, ...same } = input;
      const offset = cursor === undefined ? 0 : Number(decodeCursor(same, cursor)[0]);
      return shelf.use(ctx, async (store) => {
        const query = { ...filterOf(input), query: input.query, limit, full: input.full, offset };
        const found = await search(store, caller, query, now, settings, ctx.signal);
        const { hits, next } = fitPage(found.hits, (hit) => 160 + lengthOf(hit.title) + lengthOf(hit.excerpt));
        const nextOffset = next === null ? found.nextOffset : offset + next;
        await countUses(
          store,
          caller,
          hits.map(({ id }) => id),
          now,
        );
        return {
          query: input.query,
          fence: nonce(),
          hits,
          matched: found.matched,
          matchedIsFloor: found.matchedIsFloor,
          visible: found.visible,
          terms: found.terms,
          degraded: found.degraded,
          nextCursor: nextOffset === null ? null : encodeCursor(same, [nextOffset]),
          warnings: found.newest
            ? [
                {
                  code: "nothing_to_search",
                  message: "the query holds no word to search for, so these are the newest memories",
                },
              ]
            : [],
        };
      });
    },

    async list(input, ctx) {
      const caller = callerOf(ctx, options);
      const now = nowOf(ctx, options);
      const { cursor, limit, ...same } = input;
      const after = cursor === undefined ? null : decodeCursor(same, cursor);
      return shelf.use(ctx, async (store) => {
        const query = { ...filterOf(input), sort: input.sort, state: input.state, after };
        let page = await store.list(caller, { ...query, limit }, ctx.signal);
        const { next } = fitPage(page.items, (record) => 140 + lengthOf(record.title));
        if (next !== null) page = await store.list(caller, { ...query, limit: next }, ctx.signal);
        return {
          fence: nonce(),
          memories: page.items.map((record) => toMemory(record, now, settings.halfLives)),
          total: page.total,
          nextCursor: page.next === null ? null : encodeCursor(same, page.next),
        };
      });
    },

    async get(input, ctx) {
      const caller = callerOf(ctx, options);
      checkId("id", input.id, "memory");
      const now = nowOf(ctx, options);
      return shelf.use(ctx, async (store) => {
        const record = await store.get(caller, input.id, ctx.signal);
        if (!record) throw notFound();
        const history = input.include_history ? await store.history(caller, input.id, ctx.signal) : [];
        const points = [...record.content];
        const end = Math.min(points.length, input.offset + input.max_chars);
        await countUses(store, caller, [record.id], now);
        return {
          fence: nonce(),
          memory: toMemory(record, now, settings.halfLives),
          content: points.slice(input.offset, end).join(""),
          offset: input.offset,
          nextOffset: end < points.length ? end : null,
          history: history.map(({ at, before, ...row }) => ({
            ...row,
            at: iso(at),
            before: before === null ? null : { ...before },
          })),
        };
      });
    },

    async update(input, ctx) {
      const caller = callerOf(ctx, options);
      checkId("id", input.id, "memory");
      const { change, warnings } = changeOf(input);
      const now = nowOf(ctx, options);
      return shelf.use(ctx, async (store) => {
        const outcome = await store.update(
          caller,
          input.id,
          {
            ...change,
            terms: termsOf,
            expectedVersion: input.expected_version ?? null,
            as: "update",
            by: provenanceOf(ctx, "memory_update"),
            at: now,
          },
          ctx.signal,
        );
        const { record, changed } = updated(input.id, outcome, ctx);
        if (changed.length > 0) await embedQuietly(store, caller, ctx);
        return { memory: withoutSecrets(toMemory(record, now, settings.halfLives)), changed: [...changed], warnings };
      });
    },

    async forget(input, ctx, tool = "memory_forget") {
      const caller = callerOf(ctx, options);
      checkId("id", input.id, "memory");
      const reason = input.reason === undefined ? null : checkLine("reason", input.reason, 200);
      const now = nowOf(ctx, options);
      return shelf.use(ctx, async (store) => {
        const by = { ...provenanceOf(ctx, tool), reason, at: now, limit: limits.memories };
        const outcome = forgotten(
          input.id,
          await store.setForgotten(caller, input.id, !input.restore, by, ctx.signal),
          ctx,
        );
        return {
          memory: withoutSecrets(toMemory(outcome.record, now, settings.halfLives)),
          already: outcome.already,
          replaced: input.restore ? null : outcome.replaced,
        };
      });
    },
  };

  function draftOf(input: WriteInput) {
    const title = checkLine("title", input.title, limits.title);
    checkContent(input.content, limits);
    const { texts, warnings } = screen({ title, content: input.content }, settings.secrets);
    const draft = {
      title: texts.title ?? title,
      content: texts.content ?? input.content,
      tags: checkNames("tags", input.tags ?? [], limits.tags, limits.tag),
      about: checkNames("about", input.about ?? [], limits.subjects, limits.subject),
    };
    return { draft, warnings };
  }

  function changeOf(input: UpdateInput) {
    const { id, expected_version, ...given } = input;
    if (Object.values(given).every((value) => value === undefined)) {
      throw invalid(
        "nothing to change was given",
        "give at least one of title, content, category, tags, relevance, about",
      );
    }
    if (input.content !== undefined) checkContent(input.content, limits);
    const title = input.title === undefined ? undefined : checkLine("title", input.title, limits.title);
    const { texts, warnings } = screen({ title, content: input.content }, settings.secrets);
    const change = {
      ...(texts.title !== undefined && { title: texts.title }),
      ...(texts.content !== undefined && { content: texts.content }),
      ...(input.category && { category: input.category }),
      ...(input.relevance && { relevance: input.relevance }),
      ...(input.tags && { tags: checkNames("tags", input.tags, limits.tags, limits.tag) }),
      ...(input.about && { about: checkNames("about", input.about, limits.subjects, limits.subject) }),
    };
    return { change, warnings };
  }

  /** A memory counts as kept once it is committed; its vector may come later. */
  async function embedQuietly(store: MemoryStore, caller: Caller, ctx: ToolContext): Promise<void> {
    if (!settings.embedder) return;
    try {
      await fillPending(settings.embedder, store, caller, ctx.signal);
    } catch {
      // Stays pending: a later search tries again and says what is wrong.
    }
  }

  async function countUses(store: MemoryStore, caller: Caller, ids: readonly string[], now: number): Promise<void> {
    if (!settings.recordUse || ids.length === 0) return;
    try {
      await store.recordUse(caller, ids, now);
    } catch {
      // A count that cannot be kept must not fail the reading it counts.
    }
  }
}

function filterOf(input: {
  scope: ScopeChoice;
  category?: Category | undefined;
  tags?: readonly string[] | undefined;
  about?: readonly string[] | undefined;
}): Filter {
  return {
    scope: input.scope,
    category: input.category ?? null,
    tags: (input.tags ?? []).map(foldText),
    about: (input.about ?? []).map(foldText),
  };
}

/** As many entries as one answer holds; `next` is the first that did not fit. */
function fitPage<T>(items: readonly T[], size: (item: T) => number): { hits: T[]; next: number | null } {
  let used = 0;
  for (const [index, item] of items.entries()) {
    used += size(item);
    if (used > pageChars && index > 0) return { hits: items.slice(0, index), next: index };
  }
  return { hits: [...items], next: null };
}

/** One text for an id that never was and one that is not the caller's. */
export function notFound(): ToolError {
  return new ToolError("not_found", "there is no such memory", {
    hint: "take the id from memory_recall or memory_list",
  });
}

function notLive(id: string, outcome: { state: State; newest: string | null }, ctx: ToolContext): ToolError {
  const hint =
    outcome.newest !== null
      ? `its newest successor is ${outcome.newest}`
      : `restore it first: ${ctx.toolName("memory_forget")} with id ${id} and restore true`;
  return new ToolError("conflict", `${id} is ${outcome.state}`, {
    hint,
    retryable: false,
    details: { newest: outcome.newest },
  });
}

function otherScope(id: string, scope: Scope): ToolError {
  return new ToolError("conflict", `${id} is in scope ${scope}`, {
    hint: `a memory never changes scope: write with scope ${scope}, or forget ${id} after this`,
    retryable: false,
  });
}

export function full(live: number, ctx: ToolContext): ToolError {
  return new ToolError("too_large", `there are ${live} live memories here, and no more are kept`, {
    hint: `look through ${ctx.toolName("memory_list")} with sort "accessed", then forget or supersede some`,
  });
}

export function nearlyFull(live: number, most: number): Warning {
  return { code: "nearly_full", message: `${live} of at most ${most} live memories are kept here` };
}

function differences(
  record: MemoryRecord,
  input: WriteInput,
  draft: { tags: readonly string[]; about: readonly string[] },
): string[] {
  const same = (a: readonly string[], b: readonly string[]) =>
    JSON.stringify(a.map(foldText).sort()) === JSON.stringify(b.map(foldText).sort());
  return [
    ...(record.category === input.category ? [] : ["category"]),
    ...(record.relevance === input.relevance ? [] : ["relevance"]),
    ...(input.tags === undefined || same(record.tags, draft.tags) ? [] : ["tags"]),
    ...(input.about === undefined || same(record.about, draft.about) ? [] : ["about"]),
  ];
}

function updated(id: string, outcome: UpdateOutcome, ctx: ToolContext): Extract<UpdateOutcome, { kind: "updated" }> {
  if (outcome.kind === "updated") return outcome;
  if (outcome.kind === "missing") throw notFound();
  if (outcome.kind === "not_live") throw notLive(id, outcome, ctx);
  if (outcome.kind === "equal") {
    throw new ToolError("conflict", `with this change ${id} would equal the live memory ${outcome.id}`, {
      hint: `forget one of the two: ${ctx.toolName("memory_forget")}`,
      retryable: false,
      details: { equal: outcome.id },
    });
  }
  throw new ToolError("conflict", `${id} is at version ${outcome.version} by now`, {
    hint: `read it again with ${ctx.toolName("memory_get")}, then change that version`,
    retryable: false,
    details: { version: outcome.version },
  });
}

function forgotten(id: string, outcome: ForgetOutcome, ctx: ToolContext): Extract<ForgetOutcome, { kind: "done" }> {
  if (outcome.kind === "done") return outcome;
  if (outcome.kind === "missing") throw notFound();
  if (outcome.kind === "full") throw full(outcome.live, ctx);
  const [problem, other] =
    outcome.kind === "successor_live"
      ? [`${id} was replaced by ${outcome.successor}, which is live`, outcome.successor]
      : [`a memory equal to ${id} is live: ${outcome.id}`, outcome.id];
  throw new ToolError("conflict", problem, {
    hint: `forget ${other} first`,
    retryable: false,
    details: { live: other },
  });
}
