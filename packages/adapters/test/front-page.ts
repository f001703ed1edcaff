import { estimateTokens } from "@toolhaft/core";
import { everyFamily } from "./families.ts";

/** A part of the front page that is written by a program, between two comments that nobody sees. */
export function replacePart(page: string, part: string, text: string): string {
  const [open, close] = [`<!-- ${part}: written by npm run readme -->`, `<!-- /${part} -->`];
  const [start, end] = [page.indexOf(open), page.indexOf(close)];
  if (start < 0 || end < start) throw new Error(`the page has no ${open} … ${close}`);
  return `${page.slice(0, start + open.length)}\n\n${text}\n\n${page.slice(end)}`;
}

/** Every tool of every family with what it does, what it may do, and its cost in a listing, from the definitions themselves. */
export async function toolTables(): Promise<string> {
  const families = await everyFamily();
  const all = families.flatMap(({ tools }) => tools);
  const tables = families.map(({ folder, create, tools }) => {
    const rows = tools.map((tool) => [
      `\`${tool.name}\``,
      tool.title,
      tool.annotations.readOnlyHint ? "reads" : tool.annotations.destructiveHint ? "changes" : "adds",
      String(estimateTokens(tool)),
    ]);
    const summary = `<code>${create}()</code> of @toolhaft/${folder}: ${tools.length} tools, about ${estimateTokens(tools)} tokens`;
    return `<details><summary>${summary}</summary>\n\n${table(["tool", "what it does", "", "tokens"], rows)}\n\n</details>`;
  });
  return `${all.length} tools in ${families.length} families, ${Math.round(estimateTokens(all) / all.length)} tokens a tool.\n\n${tables.join("\n\n")}`;
}

interface Row {
  name: string;
  baseline: { name: string };
  ratio: number;
  target?: { max?: number; min?: number };
  ok: boolean;
}

export interface BenchFigures {
  node: string;
  reports: readonly { family: string; rows: readonly Row[] }[];
}

/** What `pnpm bench … --json` printed, as tables: each row beside its peer, missed targets said as such. */
export function figureTables({ node, reports }: BenchFigures): string {
  const families = [...new Set(reports.map(({ family }) => family))];
  const tables = families.flatMap((family) => {
    const rows = reports.filter((report) => report.family === family).flatMap((report) => report.rows);
    if (rows.length === 0) return [];
    const cells = rows.map(({ name, baseline, ratio, target, ok }) => [
      name,
      baseline.name,
      ratio.toFixed(ratio < 0.1 ? 3 : 2),
      limitOf(target) + (ok ? "" : " (missed)"),
    ]);
    return `<details><summary>${family}: <code>npx pnpm bench ${family}</code></summary>\n\n${table(["what", "beside", "ratio", "target"], cells)}\n\n</details>`;
  });
  return `Measured on Node ${node.replace(/^v/, "")}.\n\n${tables.join("\n\n")}`;
}

function limitOf(target: Row["target"]): string {
  if (target === undefined) return "";
  return [target.max === undefined ? "" : `≤ ${target.max}`, target.min === undefined ? "" : `≥ ${target.min}`]
    .filter((text) => text !== "")
    .join(" ");
}

/** With columns in line, as the formatter leaves them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const cells = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = head.map((_, column) => Math.max(3, ...cells.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    `| ${widths.map((width, at) => (row[at] ?? "").padEnd(width)).join(" | ")} |`;
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  const [first = [], ...others] = cells;
  return [line(first), rule, ...others.map(line)].join("\n");
}
