import { maskSecrets, showInvisible } from "@toolhaft/core";
import type { Skipped } from "./desk.ts";

/** Text of a transcript as it may be shown: secrets named in their place, unless the composer wants them. */
export function shownText(text: string, redact: boolean): string {
  return redact ? maskSecrets(text) : text;
}

/** One line without what would break a table, a link or code span. */
export function oneLine(text: string, length = 120): string {
  const line = showInvisible(text.replace(/\s+/g, " ").trim());
  const points = [...line];
  return points.length > length ? `${points.slice(0, length - 1).join("")}…` : line;
}

/** A table cell: bars, backticks and line breaks escaped. */
export function cell(text: string): string {
  return oneLine(text).replace(/[\\|`]/g, (sign) => `\\${sign}`);
}

/** The first code points of a text. */
export function cut(text: string, points: number): { text: string; left: number } {
  let units = 0;
  let taken = 0;
  while (units < text.length && taken < points) {
    units += (text.codePointAt(units) ?? 0) > 0xffff ? 2 : 1;
    taken += 1;
  }
  return { text: text.slice(0, units), left: lengthOf(text) - taken };
}

export function lengthOf(text: string): number {
  let points = 0;
  for (let at = 0; at < text.length; points += 1) at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  return points;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

export function megabytes(bytes: number): string {
  return bytes >= 1e9 ? `${(bytes / 1e9).toFixed(1)} GB` : `${(bytes / 1e6).toFixed(1)} MB`;
}

export function skippedLines(skipped: readonly Skipped[]): string[] {
  return skipped.map(({ source, message }) => `Not read: ${source}: ${oneLine(message, 300)}`);
}

/** Says what a search or list could not see yet. */
export function indexLines(index: { upToDate: boolean; pendingFiles: number; pendingBytes: number }): string[] {
  if (index.upToDate) return [];
  return [`${plural(index.pendingFiles, "file")} (${megabytes(index.pendingBytes)}) not indexed yet; call again.`];
}

/** A call of a tool as text, to be copied. */
export function callText(name: string, input: Readonly<Record<string, unknown>>): string {
  return `${name} ${JSON.stringify(input)}`;
}
