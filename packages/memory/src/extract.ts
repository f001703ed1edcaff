import { type ToolContext, ToolError } from "@toolhaft/core";
import { lengthOf } from "./checks.ts";
import { type Category, categories } from "./model.ts";

/** Takes a text apart into what is worth keeping; brought by the host. */
export type Extractor = (
  content: string,
  ctx: ToolContext,
) => Promise<readonly { content: string; category?: string; about?: readonly string[]; confidence?: number }[]>;

export interface Piece {
  title: string;
  content: string;
  category: Category;
  tags: string[];
  about: readonly string[];
  confidence: number;
}

const timeoutMs = 10_000;

/**
 * The pieces of a text, by the host's extractor or by the built-in rules (one piece, white space folded).
 *
 * @throws ToolError `upstream` when the extractor throws or takes over 10 s; nothing is written then
 */
export async function extractWith(
  extractor: Extractor | undefined,
  content: string,
  ctx: ToolContext,
): Promise<{ pieces: Piece[]; reason: string }> {
  if (!extractor) return { pieces: [toPiece({ content: content.replace(/\s+/g, " ").trim() })], reason: "" };
  const found = await withTimeout(extractor(content, ctx));
  const pieces = found.filter((piece) => /[\p{L}\p{N}]/u.test(piece.content)).map(toPiece);
  return { pieces, reason: pieces.length === 0 ? "the extractor found nothing worth keeping" : "" };
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took over ${timeoutMs / 1_000} s`)), timeoutMs);
  });
  try {
    return await Promise.race([work, late]);
  } catch (error) {
    throw new ToolError("upstream", `the extractor failed: ${error instanceof Error ? error.message : String(error)}`, {
      hint: "nothing was written; try again, or write a memory by hand",
      cause: error,
    });
  } finally {
    clearTimeout(timer);
  }
}

function toPiece(given: Awaited<ReturnType<Extractor>>[number]): Piece {
  const known = categories.find((category) => category === given.category);
  return {
    title: firstSentence(given.content),
    content: given.content,
    category: known ?? "note",
    // A category of the extractor's own is kept as a tag.
    tags: known === undefined && given.category ? [given.category] : [],
    about: given.about ?? [],
    confidence: Math.min(1, Math.max(0, given.confidence ?? 1)),
  };
}

/** Up to the first end of a sentence, on one line and at most 120 code points. */
function firstSentence(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  const sentence = /^.*?[.!?。！？](?=\s|$|[^\x00-\x7f])/u.exec(line)?.[0] ?? line;
  return lengthOf(sentence) <= 120 ? sentence : [...sentence].slice(0, 120).join("");
}
