import { recordsIn } from "./harvest.ts";
import type { PageData } from "./types.ts";

const bodies = [
  "articleBody",
  "body",
  "content",
  "bodyHtml",
  "contentHtml",
  "html",
  "text",
  "reviewBody",
  "markdown",
  "description",
];

/** Longest text that the page's data calls its body; a shell that scripts would fill often carries it. */
export function dataArticle(data: PageData, onlyArticle: boolean): string | undefined {
  let best = "";
  for (const record of [...recordsIn(data.jsonLd), ...recordsIn(data.microdata), ...recordsIn(data.embedded)]) {
    for (const name of bodies) {
      if (onlyArticle && name === "description") continue;
      const value = record[name];
      const text = typeof value === "string" ? value : textOfParts(value);
      if (isProse(text) && text.length > best.length) best = text;
    }
  }
  return best.length >= 200 ? best : undefined;
}

/** Rich text is often a list of paragraphs, plain or as records with a text. */
function textOfParts(value: unknown): string {
  if (!Array.isArray(value)) return "";
  const lines: string[] = [];
  for (const part of value) {
    if (typeof part === "string") lines.push(part);
    else
      for (const record of recordsIn(part)) {
        const text = record.text ?? record.content ?? record.html ?? record.value;
        if (typeof text === "string") lines.push(text);
      }
  }
  return lines.join("\n");
}

function isProse(text: string): boolean {
  if (text.length < 200 || /^\s*[{[]/.test(text)) return false;
  const words = text.split(/\s+/);
  return (words.length > 25 && text.length / words.length < 20 && /[.!?]/.test(text)) || /[。！？]/.test(text);
}
