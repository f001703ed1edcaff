import { ToolError } from "@toolhaft/core";
import type { TokenCounter } from "./source.ts";

export type Encoding = "o200k_base" | "cl100k_base";

/**
 * The exact counter of an encoding, loaded on first use: its tables take a second and 40 MB. Text that looks like a
 * special token (`<|endoftext|>`) is counted as the text it is.
 *
 * @throws ToolError `unavailable` when the tables cannot be loaded
 */
export async function loadTokens(encoding: Encoding): Promise<TokenCounter> {
  const ordinary = { disallowedSpecial: new Set<string>() };
  try {
    const { countTokens } =
      encoding === "o200k_base"
        ? await import("gpt-tokenizer/encoding/o200k_base")
        : await import("gpt-tokenizer/encoding/cl100k_base");
    return { name: encoding, count: (text) => countTokens(text, ordinary) };
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new ToolError("unavailable", `the tokenizer cannot be loaded: ${message}`, {
      hint: "npm install gpt-tokenizer@4",
      cause,
    });
  }
}
