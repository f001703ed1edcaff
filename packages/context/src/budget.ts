import type { TokenCounter } from "./source.ts";

/** Room in tokens, and in bytes: no client takes a longer text. */
export interface Budget {
  readonly most: number;
  readonly tokenizer: string;
  count(text: string): number;
  /** Whether a whole text stays under the limit of bytes and characters. */
  holds(text: string): boolean;
}

/** Under the 96,000 UTF-8 bytes and the characters at which a result is capped. */
export const mostBytes = 95_000;

export function createBudget(tokens: TokenCounter, most: number): Budget {
  return {
    most,
    tokenizer: tokens.name,
    count: (text) => tokens.count(text),
    holds: (text) => text.length * 3 <= mostBytes || new TextEncoder().encode(text).length <= mostBytes,
  };
}
