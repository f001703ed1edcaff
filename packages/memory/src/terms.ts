import { analyse } from "@toolhaft/text";
import type { Terms } from "./store.ts";

/** Analysed terms of a memory, as index and ranking read them. */
export function termsOf(memory: {
  title: string;
  content: string;
  tags: readonly string[];
  about: readonly string[];
}): Terms {
  const columns = [memory.title, memory.content, memory.tags.join("\n"), memory.about.join("\n")].map(analyse);
  const [title = "", body = "", tags = "", about = ""] = columns.map((terms) => terms.join(" "));
  return { title, body, tags, about, length: columns.reduce((sum, terms) => sum + terms.length, 0) };
}
