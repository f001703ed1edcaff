import { type ToolContext, ToolError } from "@toolhaft/core";
import type { PriceTable } from "./cost.ts";
import type { IndexProgress, SessionStore } from "./store.ts";

/** What the tools work with. */
export interface Desk {
  stores(context: Pick<ToolContext, "directory">): readonly SessionStore[];
  projects: "ask" | "all";
  prices: PriceTable | undefined;
  redact: boolean;
  timeZone: string;
  indexMs: number;
  scanMs: number;
}

/** Unreadable files of a store that are named one by one. */
const mostNamed = 5;

/** The failure of one store, told beside what the others answered. */
export interface Skipped {
  source: string;
  code: string;
  message: string;
}

/** What is left to index in all stores that answered. */
export function indexOf(answers: readonly { answer: { index: IndexProgress } }[]): {
  upToDate: boolean;
  pendingFiles: number;
  pendingBytes: number;
} {
  const sum = (of: "pendingFiles" | "pendingBytes") =>
    answers.reduce((total, { answer }) => total + answer.index[of], 0);
  return {
    upToDate: answers.every(({ answer }) => answer.index.upToDate),
    pendingFiles: sum("pendingFiles"),
    pendingBytes: sum("pendingBytes"),
  };
}

/** Files and folders that a store passed over because they could not be read; of many the first ones. */
export function unreadIn(answers: readonly { store: SessionStore; answer: { index: IndexProgress } }[]): Skipped[] {
  return answers.flatMap(({ store: { source }, answer: { index } }) => {
    const named = index.unreadable.slice(0, mostNamed).map(({ path, cause }) => `${path}: ${cause}`);
    const more = index.unreadable.length - named.length;
    if (more > 0) named.push(`and ${more} more`);
    return named.map((message) => ({ source, code: "unavailable", message }));
  });
}

/** Asks every store; one that fails is named. All failing is the first one's failure. */
export async function fromAll<T>(
  stores: readonly SessionStore[],
  ask: (store: SessionStore) => Promise<T>,
  signal: AbortSignal,
): Promise<{ answers: { store: SessionStore; answer: T }[]; skipped: Skipped[] }> {
  const answers: { store: SessionStore; answer: T }[] = [];
  const skipped: Skipped[] = [];
  for (const store of stores) {
    signal.throwIfAborted();
    try {
      answers.push({ store, answer: await ask(store) });
    } catch (error) {
      if (signal.aborted || (error instanceof ToolError && error.code === "invalid_input")) throw error;
      const known = error instanceof ToolError;
      skipped.push({
        source: store.source,
        code: known ? error.code : "unavailable",
        message: error instanceof Error ? error.message : String(error),
      });
    }
  }
  if (answers.length === 0 && skipped.length > 0) {
    throw new ToolError("unavailable", skipped.map(({ source, message }) => `${source}: ${message}`).join("; "), {
      hint: "mend the store that is named, or leave it out",
    });
  }
  return { answers, skipped };
}
