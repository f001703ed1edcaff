import type { Io } from "./io.ts";

/** Plain columns: two blanks apart, the last one unpadded, the head in bold on a terminal. */
export function columns(
  head: readonly string[],
  rows: readonly (readonly string[])[],
  io: Pick<Io, "colours">,
): string {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    cells.map((cell, column) => (column === cells.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("  ");
  const title = line(head);
  return `${[io.colours ? `\u001b[1m${title}\u001b[22m` : title, ...rows.map(line)].join("\n")}\n`;
}
