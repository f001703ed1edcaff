import { showInvisible } from "@toolhaft/core";
import { headOf, lengthOf } from "./text-window.ts";

/** One line: breaks become `⏎`, what cannot be seen is written out. */
export function oneLine(text: string): string {
  return showInvisible(text.replace(/\r\n|[\n\r\u0085\u2028\u2029\v\f]/g, " ⏎ ").replaceAll("\t", " "));
}

/** The first characters of a text; `…` stands only where something was cut. */
export function cut(text: string, points: number): string {
  return lengthOf(text) <= points ? text : `${headOf(text, points - 1)}…`;
}

/** A cell of a Markdown table: bars and backslashes escaped, breaks shown as one mark. */
export function cell(text: string, points = 80): string {
  return cut(oneLine(text).trim(), points).replace(/[\\|]/g, (sign) => `\\${sign}`);
}

/** A Markdown table; cells are escaped already. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

/** A call of a tool as text, to be copied. */
export function callText(name: string, input: Readonly<Record<string, unknown>>): string {
  const given = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  return `${name} ${JSON.stringify(given)}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
