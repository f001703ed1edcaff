import type { Usage } from "@toolhaft/tasks";

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
}

/** Prices by model, as `litellmPrices` of the session package gives them; none ship with this one. */
export interface PriceTable {
  readonly name: string;
  readonly date: string;
  price(model: string, provider: string | null, at: string | null): Price | undefined;
}

/** The usage with what it cost: what the runner said, else the table's price, else unknown. */
export function priced(usage: Usage, model: string | undefined, prices: PriceTable | undefined): Usage {
  if (usage.costUsd !== null || model === undefined) return usage;
  const price = prices?.price(model, null, null);
  if (price === undefined) return usage;
  const costUsd =
    ((usage.inputTokens ?? 0) * price.input +
      (usage.outputTokens ?? 0) * price.output +
      (usage.cacheReadTokens ?? 0) * price.cacheRead +
      (usage.cacheWriteTokens ?? 0) * price.cacheWrite5m) /
    1_000_000;
  return { ...usage, costUsd };
}
