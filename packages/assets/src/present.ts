import type { Finding } from "@toolhaft/asset-format";
import { showHidden } from "@toolhaft/asset-format";
import type { AssetRef } from "./model.ts";
import { cutText } from "./window.ts";

/** One cell of a table: line breaks become blanks, and nothing in it is read as Markdown of the table. */
export function cell(text: string, most = 200): string {
  return cutText(
    showHidden(text)
      .replace(/\s*[\r\n\u2028\u2029\u0085]+\s*/g, " ")
      .trim(),
    most,
  )
    .replace(/\\(?=[!-/:-@[-`{-~])/g, "\\\\")
    .replace(/[|`]/g, "\\$&");
}

export function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  // A blank line ends it: the next line would be read as a row.
  return ["", row(head), row(head.map(() => "---")), ...rows.map(row), ""];
}

/** `function (plan)`: what it is and, when there is one, a label. */
export function typeCell(asset: AssetRef, label?: string): string {
  return cell(label === undefined || label === "" ? asset.type : `${asset.type} (${label})`);
}

export function notesOf(notes: readonly string[]): string[] {
  return notes.map((note) => `Note: ${showHidden(note)}`);
}

export function findingLines(findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  return [
    `Findings (the scan lowers risk and is no proof): ${findings.length}`,
    ...findings.map(({ rule, severity, line, column, excerpt }) => `${severity} ${rule} ${line}:${column} ${excerpt}`),
  ];
}

export function plural(count: number, one: string, many: string = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** The lines that fit, and how many were left out; a reply is kept whole by paging, so this is the last resort. */
export function fitLines(lines: readonly string[], most: number): string {
  const text = lines.join("\n");
  if (text.length <= most) return text;
  const kept: string[] = [];
  let size = 80;
  for (const line of lines) {
    if (size + line.length + 1 > most) break;
    kept.push(line);
    size += line.length + 1;
  }
  return [...kept, `… (${lines.length - kept.length} more lines; ask for fewer at once)`].join("\n");
}
