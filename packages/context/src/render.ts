import { showInvisible } from "@toolhaft/core";
import { cutLine } from "./snippet.ts";

/** One hit as it is shown. */
export interface ShownHit {
  ref: string;
  alsoAt: readonly string[];
  source: string;
  title: string;
  snippet: string;
  at?: number | undefined;
}

const lineBreak = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/u;

/** The whole text; its every line that is not ours begins with `| `. */
export function renderContext(header: string, hits: readonly ShownHit[], footer: string): string {
  return [header, ...hits.map((hit, index) => renderHit(hit, index + 1)), footer].join("\n");
}

export function renderHit(hit: ShownHit, number: number): string {
  const date = dateOf(hit.at);
  const head = [
    `[${number}] ${field(hit.source)}`,
    ...(hit.title === "" || hit.title === hit.ref ? [] : [field(hit.title)]),
    field(hit.ref),
    ...(hit.alsoAt.length > 0 ? [`also ${hit.alsoAt.map(field).join(", ")}`] : []),
    ...(date === undefined ? [] : [date]),
  ].join(" · ");
  const lines = hit.snippet.split(lineBreak).map((line) => `| ${shown(line)}`);
  return [head, ...lines].join("\n");
}

/** Foreign text on a line of ours: one line, and no sign that parts fields. */
export function field(text: string): string {
  return shown(text.split(lineBreak).join(" ")).replaceAll(" · ", " ∙ ");
}

export function shortField(text: string, chars: number): string {
  return field(cutLine(text, chars));
}

/** What cannot be seen is made visible, and half of a surrogate pair is replaced. */
function shown(text: string): string {
  return showInvisible(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}

/** A day in UTC; undefined for what is no date. */
function dateOf(at: number | undefined): string | undefined {
  if (at === undefined) return undefined;
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString().slice(0, 10);
}
