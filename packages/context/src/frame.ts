import { field, shortField } from "./render.ts";
import type { SourceFailure, SourceResult } from "./source.ts";

/** What the header and the footer may hold. */
export interface FrameSize {
  /** Code points of the topic. */
  topic: number;
  /** Code points of each cause; 0: causes are left out. */
  cause: number;
  /** Whether sources that gave nothing are named. */
  all: boolean;
}

/** From generous to bare; failed sources are named in all of them. */
export const frameSizes: readonly FrameSize[] = [
  { topic: 200, cause: 300, all: true },
  { topic: 80, cause: 120, all: true },
  { topic: 40, cause: 40, all: true },
  { topic: 12, cause: 0, all: true },
  { topic: 0, cause: 0, all: false },
];

export function headerOf(topic: string, used: number, most: number, tokenizer: string, size: FrameSize): string {
  const shown = size.topic === 0 ? "" : `: ${shortField(topic, size.topic)}`;
  return `# Context${shown} (${used} of ${most} tokens, ${field(tokenizer)})`;
}

/** @param shown Number of shown hits by name of the source. */
export function footerOf(found: readonly SourceResult[], shown: ReadonlyMap<string, number>, size: FrameSize): string {
  const searched = found.filter((result) => result.status === "answered");
  const failed = found.flatMap((result) =>
    result.status === "failed" ? [named(result.name, result.error, size.cause)] : [],
  );
  const absent = found.filter(({ status }) => status === "not_configured").map(({ name }) => field(name));
  const total = [...shown.values()].reduce((sum, count) => sum + count, 0);
  const parts: string[] = [];
  if (total === 0 && searched.length > 0) {
    const names = searched.map(({ name }) => field(name)).join(", ");
    const hits = searched.reduce((sum, { hits }) => sum + hits.length, 0);
    if (hits === 0) parts.push(size.all ? `Nothing found in ${names}.` : "Nothing found.");
    else parts.push(size.all ? `Nothing shown of what was found in ${names}.` : "Nothing shown.");
  } else if (searched.length > 0 && size.all) {
    parts.push(`Searched: ${searched.map((result) => countOf(result.name, result.hits.length, shown)).join(", ")}.`);
  }
  if (failed.length > 0) parts.push(`Failed: ${failed.join(", ")}.`);
  const notes = searched.flatMap(({ name, note }) =>
    note === undefined || size.cause === 0 ? [] : [`${field(name)} (${shortField(note, size.cause)})`],
  );
  if (notes.length > 0) parts.push(`Not complete: ${notes.join(", ")}.`);
  if (absent.length > 0 && size.all) parts.push(`Not configured: ${absent.join(", ")}.`);
  return parts.join(" ");
}

function countOf(name: string, found: number, shown: ReadonlyMap<string, number>): string {
  return found === 0 ? `${field(name)} 0` : `${field(name)} ${found} (${shown.get(name) ?? 0} shown)`;
}

function named(name: string, error: SourceFailure, chars: number): string {
  return chars === 0 ? field(name) : `${field(name)} (${shortField(error.message, chars)})`;
}
