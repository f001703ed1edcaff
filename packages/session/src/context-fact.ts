import type { Fact } from "./facts.ts";
import type { Usage } from "./model.ts";

/** What the model had before it, and what it added: as much context was in use after the answer. */
export function contextFact(usage: Usage): Fact {
  const peakTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens + usage.outputTokens;
  return { kind: "context", peakTokens, window: null };
}
