import type { EditData, EditedFile } from "../answer.ts";
import { clip, headline, notes, plural } from "./text.ts";

/** "16 edits in 6 files" */
export function editCount(data: EditData): string {
  const edits = data.totalEdits > 0 ? `${plural(data.totalEdits, "edit")} in ` : "";
  return `${edits}${plural(data.totalFiles, "file")}`;
}

/** Header, one row a file, then the diff of a preview; both cut to what a text may hold. */
export function editText(lead: string, data: EditData, base: 0 | 1, maxTextChars = 30_000): string {
  const lines = [headline(lead, data, base).replace(/-based$/, "-based lines")];
  let length = lines[0]?.length ?? 0;
  let left = data.files.length;
  for (const file of data.files) {
    const row = rowOf(file, base);
    if (length + row.length > maxTextChars / 2) break;
    lines.push(row);
    length += row.length + 1;
    left--;
  }
  if (left > 0) lines.push(`… ${left} more files`);
  for (const one of data.annotations) {
    const confirm = one.needsConfirmation && data.status === "preview" ? " (needs confirmAnnotated: true)" : "";
    lines.push(`${one.label}: ${plural(one.edits, "edit")}${confirm}`);
  }
  if (data.skippedCommands?.length) lines.push(`not run, for editors only: ${data.skippedCommands.join(", ")}`);
  lines.push(...notes(data));
  if (data.diff !== undefined && data.diff !== "")
    lines.push(clip(data.diff, Math.max(1_000, maxTextChars - length - 2_000)));
  return lines.join("\n");
}

function rowOf(file: EditedFile, base: number): string {
  if (file.operation === "create") return `${file.path} (created)`;
  if (file.operation === "delete") return `${file.path} (deleted)`;
  const lines = lineList(file.lines, base);
  if (file.operation === "rename") return `${file.path} → ${file.to ?? "?"} (file renamed)${lines ? ` ${lines}` : ""}`;
  return `${file.path} ${lines}`.trimEnd();
}

/** `54, 558, 782(2)`; the first hundred. */
function lineList(lines: readonly number[], base: number): string {
  const counts = new Map<number, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  const cells = [...counts].map(([line, count]) => `${line + base}${count > 1 ? `(${count})` : ""}`);
  return cells.length > 100
    ? `${cells.slice(0, 100).join(", ")} and ${cells.length - 100} more lines`
    : cells.join(", ");
}
