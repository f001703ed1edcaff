import { createId, type ToolContext } from "@toolhaft/core";
import { foldText } from "@toolhaft/text";
import { checkContent, checkLine, checkNames, invalid } from "./checks.ts";
import type { Piece } from "./extract.ts";
import type { Limits } from "./limits.ts";
import { full } from "./notes.ts";
import { distinctTerms } from "./similar.ts";
import type { Caller, MemoryRecord, MemoryStore, Provenance } from "./store.ts";
import { termsOf } from "./terms.ts";

export interface PieceOutcome {
  outcome: "added" | "merged" | "duplicate";
  reason: string;
  memory: { id: string; action: "added" | "merged" | "kept"; content: string; before: string | null };
}

/** Share of a fragment's distinct terms that another must hold to replace it. */
const contained = 0.95;

/** @throws ToolError `invalid_input` or `too_large`: asked of all pieces before the first is stored */
export function checkPiece(piece: Piece, limits: Limits): Piece {
  checkContent(piece.content, limits);
  return {
    ...piece,
    title: checkLine("title", piece.title, limits.title),
    tags: checkNames("tags", piece.tags, limits.tags, limits.tag),
    about: checkNames("about", piece.about, limits.subjects, limits.subject),
  };
}

/** Stores one checked fragment unless it is known: equal or contained in a live one, or saying more than one. */
export async function storePiece(
  store: MemoryStore,
  caller: Caller,
  piece: Piece,
  how: { by: Provenance; at: number; limits: Limits; ctx: ToolContext },
): Promise<PieceOutcome> {
  const { by, at, limits, ctx } = how;
  const { title, content, tags, about } = piece;
  const draft = { title, content, tags, about };
  const near = await nearest(store, caller, draft, ctx.signal);
  if (near?.kind === "known") return kept(near.record, near.reason);
  if (near?.kind === "less") {
    const change = { ...draft, confidence: Math.max(piece.confidence, near.record.confidence) };
    const outcome = await store.update(
      caller,
      near.record.id,
      { ...change, terms: termsOf, expectedVersion: near.record.version, as: "merge", by, at },
      ctx.signal,
    );
    // Somebody changed it meanwhile: then this fragment stands by itself.
    if (outcome.kind === "updated") {
      const memory = {
        id: near.record.id,
        action: "merged",
        content: draft.content,
        before: near.record.content,
      } as const;
      return { outcome: "merged", reason: `says all that ${near.record.id} said and more`, memory };
    }
  }
  const outcome = await store.write(
    caller,
    {
      ...draft,
      id: `mem_${createId(at)}`,
      scope: "role",
      category: piece.category,
      relevance: "medium",
      confidence: piece.confidence,
      kind: "fragment",
      terms: termsOf(draft),
      supersedes: null,
      by,
      at,
      limit: limits.memories,
    },
    ctx.signal,
  );
  if (outcome.kind === "duplicate") return kept(outcome.record, "equal to a live memory");
  if (outcome.kind === "full") throw full(outcome.live, ctx);
  if (outcome.kind !== "stored") throw invalid("the fragment could not be stored", "write it as a memory");
  return {
    outcome: "added",
    reason: "new",
    memory: { id: outcome.record.id, action: "added", content: draft.content, before: null },
  };
}

function kept(record: MemoryRecord, reason: string): PieceOutcome {
  return {
    outcome: "duplicate",
    reason: `${reason}: ${record.id}`,
    memory: { id: record.id, action: "kept", content: record.content, before: null },
  };
}

async function nearest(
  store: MemoryStore,
  caller: Caller,
  draft: { title: string; content: string },
  signal: AbortSignal,
): Promise<
  { kind: "known"; record: MemoryRecord; reason: string } | { kind: "less"; record: MemoryRecord } | undefined
> {
  const own = contentTerms(draft.content);
  const found = await store.candidates(
    caller,
    { terms: [...own].slice(0, 200), titleKey: "", limit: 30, scope: "both", category: null, tags: [], about: [] },
    signal,
  );
  const records = await store.records(
    caller,
    found.rows.map(({ id }) => id),
    signal,
  );
  const equal = records.find(({ content }) => foldText(content) === foldText(draft.content));
  if (equal) return { kind: "known", record: equal, reason: "equal to a live memory" };
  for (const record of records) {
    if (record.kind !== "fragment" || record.scope !== "role") continue;
    const other = contentTerms(record.content);
    if (share(own, other) >= 1) return { kind: "known", record, reason: "contained in a live fragment" };
    if (share(other, own) >= contained && own.size > other.size) return { kind: "less", record };
  }
  return undefined;
}

function contentTerms(content: string): Set<string> {
  return distinctTerms({ title: "", content });
}

/** How much of the first set is in the second, 0–1. */
function share(some: ReadonlySet<string>, all: ReadonlySet<string>): number {
  if (some.size === 0) return 0;
  let shared = 0;
  for (const term of some) if (all.has(term)) shared++;
  return shared / some.size;
}
