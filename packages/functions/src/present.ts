import { showInvisible } from "@toolhaft/core";

const lineBreaks = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/gu;

/** Foreign text on one line: breaks become blanks, what cannot be seen is made visible. */
export function oneLine(text: string, most = Number.POSITIVE_INFINITY): string {
  const line = showInvisible(text.replace(/\p{Surrogate}/gu, "\ufffd").replace(lineBreaks, " "));
  const points = [...line];
  return points.length <= most ? line : `${points.slice(0, most).join("")}…`;
}

/** A cell of a Markdown table that reads back as the text. */
export function cell(text: string, most = 160): string {
  const line = oneLine(text, most);
  return line === "" ? "–" : line.replace(/[\\|`]/g, "\\$&");
}

export function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  return [row(head), row(head.map(() => "---")), ...rows.map(row)];
}

export function plural(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
