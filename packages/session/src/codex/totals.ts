import type { JsonRecord } from "../json-line.ts";
import { noUsage, type Usage } from "../model.ts";
import { count, object } from "../shapes.ts";

/** What one `token_count` event adds. */
export interface Rise {
  usage: Usage;
  /** The running total after it, as a key that a replayed event has too. */
  total: string;
}

/**
 * Turns running totals into what each event adds: a total that did not change adds nothing, one that rose adds its rise,
 * one that fell was reset and adds what the event calls its last usage.
 */
export class RunningTotal {
  #last: Usage;

  constructor(saved: Usage = noUsage) {
    this.#last = saved;
  }

  get last(): Usage {
    return this.#last;
  }

  /** Undefined when nothing was added. */
  next(info: JsonRecord): Rise | undefined {
    const given = object(info.total_token_usage);
    if (given === undefined) return undefined;
    const total = codexUsage(given);
    const key = totalKey(total);
    if (key === totalKey(this.#last)) return undefined;
    const rise = difference(total, this.#last);
    const fell = Object.values(rise).some((value) => value < 0);
    const last = object(info.last_token_usage);
    this.#last = total;
    const usage = fell ? (last === undefined ? total : codexUsage(last)) : rise;
    return { usage, total: key };
  }
}

export function totalKey(usage: Usage): string {
  return [
    usage.inputTokens,
    usage.cacheReadTokens,
    usage.cacheWriteTokens,
    usage.outputTokens,
    usage.reasoningTokens,
  ].join(":");
}

/** Codex counts cached tokens inside the input, and reasoning inside the output. */
export function codexUsage(usage: JsonRecord): Usage {
  const cached = count(usage.cached_input_tokens);
  return {
    inputTokens: Math.max(0, count(usage.input_tokens) - cached),
    outputTokens: count(usage.output_tokens),
    reasoningTokens: count(usage.reasoning_output_tokens),
    cacheReadTokens: cached,
    cacheWriteTokens: count(usage.cache_write_input_tokens),
  };
}

export function difference(total: Usage, from: Usage): Usage {
  return {
    inputTokens: total.inputTokens - from.inputTokens,
    outputTokens: total.outputTokens - from.outputTokens,
    reasoningTokens: total.reasoningTokens - from.reasoningTokens,
    cacheReadTokens: total.cacheReadTokens - from.cacheReadTokens,
    cacheWriteTokens: total.cacheWriteTokens - from.cacheWriteTokens,
  };
}
