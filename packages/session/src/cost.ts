import { isObject } from "./json-line.ts";
import { addUsage, noUsage, type Usage } from "./model.ts";
import { finite, nonEmpty, object } from "./shapes.ts";
import type { ModelUsage } from "./store.ts";

/** USD per million tokens. */
export interface Price {
  input: number;
  output: number;
  cacheRead: number;
  cacheWrite5m: number;
  cacheWrite1h: number;
  /** Other prices for requests whose context is longer. */
  above?: { contextTokens: number; factor: Partial<Price> };
}

/** Prices by model; none ship with the package. */
export interface PriceTable {
  readonly name: string;
  /** The day the prices were taken, `2026-03-02`. */
  readonly date: string;
  price(model: string, provider: string | null, at: string | null): Price | undefined;
}

export interface Cost {
  /** Recorded by the host, else computed; null when some of it has no price. */
  usd: number | null;
  recordedUsd: number | null;
  unpriced: { model: string; usage: Usage }[];
  prices: string | null;
}

/** What the session's own answers cost: what the host recorded wins over a price table. */
export function costOf(models: readonly ModelUsage[], prices: PriceTable | undefined): Cost {
  const unpriced: Cost["unpriced"] = [];
  let usd = 0;
  let recorded: number | null = null;
  let used = false;
  for (const entry of models) {
    const own = modelCost(entry, prices);
    if (entry.recordedUsd !== null) recorded = (recorded ?? 0) + entry.recordedUsd;
    if (own === undefined) {
      if (!isNothing(entry.usage)) unpriced.push({ model: entry.model, usage: entry.usage });
    } else {
      usd += own;
      used ||= entry.recordedUsd === null;
    }
  }
  const known = models.length > 0 && unpriced.length === 0;
  return {
    usd: known ? rounded(usd) : null,
    recordedUsd: recorded === null ? null : rounded(recorded),
    unpriced,
    prices: used && prices !== undefined ? `${prices.name}, ${prices.date}` : null,
  };
}

/** Undefined when nothing says what the model's tokens cost. */
export function modelCost(entry: ModelUsage, prices: PriceTable | undefined): number | undefined {
  if (entry.recordedUsd !== null) return entry.recordedUsd;
  const price = prices?.price(entry.model, entry.provider, entry.at);
  if (price === undefined) return isNothing(entry.usage) ? 0 : undefined;
  const { usage } = entry;
  const short = Math.max(0, usage.cacheWriteTokens - entry.cacheWrite1h);
  return (
    (usage.inputTokens * price.input +
      usage.outputTokens * price.output +
      usage.cacheReadTokens * price.cacheRead +
      short * price.cacheWrite5m +
      Math.min(entry.cacheWrite1h, usage.cacheWriteTokens) * price.cacheWrite1h) /
    1e6
  );
}

export function totalUsage(models: readonly ModelUsage[]): Usage {
  return models.reduce((sum, { usage }) => addUsage(sum, usage), noUsage);
}

function isNothing(usage: Usage): boolean {
  return Object.values(usage).every((value) => value === 0);
}

/** Sums of decimal fractions, without the noise of binary ones. */
function rounded(usd: number): number {
  return Math.round(usd * 1e9) / 1e9;
}

const perMillion = 1e6;

/**
 * Prices in the form that the LiteLLM project publishes (`model_prices_and_context_window.json`).
 *
 * @param json the parsed file
 * @param date the day it was taken
 * @throws TypeError when it holds no prices
 */
export function litellmPrices(json: unknown, date: string): PriceTable {
  if (!isObject(json)) throw new TypeError("litellmPrices: give the parsed JSON object of model prices");
  const prices = new Map<string, Price>();
  for (const [model, entry] of Object.entries(json)) {
    const price = litellmPrice(entry);
    if (price !== undefined) prices.set(model, price);
  }
  if (prices.size === 0) throw new TypeError("litellmPrices: the object holds no entry with input_cost_per_token");
  return {
    name: "litellm",
    date,
    price: (model, provider) => {
      const names = [model, ...(provider === null ? [] : [`${provider}/${model}`]), model.replace(/-\d{8}$/, "")];
      return names.map((name) => prices.get(name)).find((price) => price !== undefined);
    },
  };
}

function litellmPrice(value: unknown): Price | undefined {
  const entry = object(value);
  const input = finite(entry?.input_cost_per_token);
  const output = finite(entry?.output_cost_per_token);
  if (entry === undefined || nonEmpty(entry.mode) === "embedding" || input === undefined || output === undefined)
    return undefined;
  const write = finite(entry.cache_creation_input_token_cost);
  return {
    input: input * perMillion,
    output: output * perMillion,
    cacheRead: (finite(entry.cache_read_input_token_cost) ?? input) * perMillion,
    cacheWrite5m: (write ?? input) * perMillion,
    cacheWrite1h: (finite(entry.cache_creation_input_token_cost_above_1hr) ?? write ?? input) * perMillion,
  };
}
