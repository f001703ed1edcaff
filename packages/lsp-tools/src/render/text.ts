import type { Answer, Page, Pos, Target } from "../answer.ts";
import { cutText } from "../positions.ts";

/** Room kept for the header, the line that tells what is left, and notes. */
const reserve = 1_200;

/** "4:17" in the numbering of the toolset. */
export function at(position: Pos, base: number): string {
  return `${position.line + base}:${position.character + base}`;
}

export function plural(count: number, noun: string): string {
  if (count === 1) return `${count} ${noun}`;
  return `${count} ${/[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : /(?:s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`}`;
}

/** "Transport [src/a.ts 106:17]" */
export function targetText(target: Target | undefined, base: number): string {
  if (!target) return "";
  const name = target.name ?? "this position";
  return `${name} [${target.path} ${at(target.position, base)}${target.snapped ? ", snapped to the nearest name" : ""}]`;
}

/** The one line ahead of every result: how far it can be trusted, what it is, who said it, how it counts. */
export function headline(lead: string, answer: Answer, base?: 0 | 1): string {
  const partial = answer.complete ? "" : `PARTIAL (${answer.incomplete ?? "not all servers answered"}): `;
  const ids = answer.servers.filter((server) => server.outcome === "answered").map((server) => server.id);
  const empty = answer.servers.filter((server) => server.outcome === "empty").map((server) => server.id);
  const who = (ids.length > 0 ? ids : empty).join(", ");
  return [partial + lead, who, base === undefined ? "" : `${base}-based`].filter((part) => part !== "").join(" · ");
}

/** What servers had to say beside their answer. */
export function notes(answer: Answer): string[] {
  return answer.servers.flatMap((server) =>
    server.message !== undefined && (server.outcome === "answered" || server.outcome === "empty")
      ? [`note from ${server.id}: ${server.message}`]
      : [],
  );
}

export interface TextItem {
  /** Printed once above the items that share it. */
  group?: string | undefined;
  text: string;
  /** Entries of the page that this item stands for. @default 1 */
  count?: number;
}

export interface PagedText {
  header: string;
  items: readonly TextItem[];
  page: Page;
  answer: Answer;
  /** The call that continues at an offset. */
  next(offset: number): string;
  maxTextChars?: number;
}

/** Header and items, cut between items where the text would get too long, with the next call spelled out. */
export function pagedText(paged: PagedText): string {
  const max = (paged.maxTextChars ?? 30_000) - reserve;
  const lines = [paged.header];
  let length = paged.header.length;
  let group: string | undefined;
  let counted = 0;
  for (const item of paged.items) {
    const lead = item.group !== undefined && item.group !== group ? [item.group] : [];
    const added = [...lead, item.text].join("\n").length + 1;
    if (length + added > max && counted > 0) break;
    lines.push(...lead, length + added > max ? clip(item.text, Math.max(200, max - length)) : item.text);
    length += added;
    group = item.group;
    counted += item.count ?? 1;
  }
  const end = paged.page.offset + counted;
  const left = paged.page.total - end;
  if (left > 0) lines.push(`${left} more: ${paged.next(end)}`);
  return [...lines, ...notes(paged.answer)].join("\n");
}

/** Cuts a text at a whole character and says so. */
export function clip(text: string, max: number): string {
  if (text.length <= max) return text;
  const cut = cutText(text, Math.max(0, max - 30));
  return `${cut}… (${text.length - cut.length} more chars)`;
}

/** A call as a model would write it: only what was set and is not the default. */
export function callText(
  tool: string,
  input: object,
  changes: Record<string, unknown>,
  defaults: Record<string, unknown> = {},
): string {
  const fields: Record<string, unknown> = { ...input, ...changes };
  for (const [key, value] of Object.entries(fields)) {
    if (value === undefined || value === defaults[key]) delete fields[key];
  }
  return `${tool} ${JSON.stringify(fields)}`;
}
