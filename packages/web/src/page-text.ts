import { type PartLimits, partAt } from "./chunks.ts";
import type { PageResult } from "./page-result.ts";
import { escapeBoundaries, oneLine, removeInvisible, withinBoundary } from "./untrusted.ts";

const grouped = (value: number): string => value.toLocaleString("en-US");

/** Our one line above the boundary: where it came from, what it is, how long it is. */
function headLine(page: PageResult): string {
  const size =
    page.encoding === "base64"
      ? `${grouped(page.range.total)} base64 characters`
      : `${grouped(page.range.total)} characters`;
  return `${oneLine(page.finalUrl)}  (${page.status}, ${page.pageType ?? page.contentType}, ${size})`;
}

/** Author and date as one line; what the page does not tell is left out. */
function byline(page: PageResult): string {
  return [page.metadata?.author, page.metadata?.published]
    .filter((value): value is string => value !== undefined && value !== "")
    .map((value) => oneLine(value, 120))
    .join(" · ");
}

/** What the page says about itself, as front matter. */
function frontMatter(page: PageResult): string {
  const lines = Object.entries(page.metadata ?? {}).map(([key, value]) => `${key}: ${oneLine(String(value))}`);
  return lines.length === 0 ? "" : `---\n${lines.join("\n")}\n---\n`;
}

/** Title and byline stand above the first part unless the text itself starts with them. */
function opening(page: PageResult): string {
  if (page.range.start > 0 || page.format !== "markdown" || page.title === undefined) return "";
  const title = oneLine(page.title);
  const start = page.content.slice(0, 1_000);
  const heading = start.includes(title) || title === "" ? "" : `# ${title}\n`;
  const by = byline(page);
  return heading + (by === "" || start.includes(by) ? "" : `${by}\n`);
}

export interface PageTextOptions {
  tool: string;
  /** Further arguments of the next call, beside `url` and `offset`. */
  again: Readonly<Record<string, unknown>>;
  /** URL of the call. */
  url: string;
  limits: PartLimits;
  frontMatter: boolean;
}

/** The text a model reads of a page. */
export function pageText(page: PageResult, options: PageTextOptions): string {
  const part = partAt(page.content, 0, options.limits);
  const shown = page.content.slice(0, part.end);
  const end = page.range.start + part.end;
  const foreign = page.format === "raw" ? escapeBoundaries(removeInvisible(shown).text) : shown;
  const inside = `${options.frontMatter ? frontMatter(page) : opening(page)}${foreign}`;
  const lines = [headLine(page), withinBoundary(page.boundary, inside)];
  for (const { code, message } of page.notes) lines.push(`note ${code}: ${oneLine(message)}`);
  if (end < page.range.total) {
    const call = JSON.stringify({ url: options.url, ...options.again, offset: end });
    lines.push(
      `characters ${grouped(page.range.start)}-${grouped(end)} of ${grouped(page.range.total)}. next: ${options.tool} ${call}`,
    );
  } else if (page.range.start > 0) {
    lines.push(
      `characters ${grouped(page.range.start)}-${grouped(end)} of ${grouped(page.range.total)}. this is the end`,
    );
  }
  return lines.join("\n");
}
