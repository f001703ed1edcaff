import { linesOf, type Searched, searchedOf } from "./reference-text.ts";
import { createTextCache, type TextCache } from "./text-cache.ts";

/** A reference made ready for being searched again and again. */
export interface ReferenceText extends Searched {
  lines(): readonly string[];
}

export function referenceText(text: string): ReferenceText {
  let lines: readonly string[] | undefined;
  return {
    ...searchedOf(text),
    lines() {
      lines ??= linesOf(text);
      return lines;
    },
  };
}

/** Texts of references, kept while their files are the same. */
export function createReferenceTexts(): TextCache<ReferenceText> {
  return createTextCache(({ text }) => text.length * 3);
}
