import { type ToolContext, ToolError } from "@toolhaft/core";
import type { PriceTable } from "./cost.ts";
import type { SessionStore } from "./store.ts";

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

/** The failure of one store, told beside what the others answered. */
export interface Skipped {
  source: string;
  code: string;
  message: string;
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
