import type { TaskStatus, TextWindow, Usage } from "@toolhaft/tasks";

export { duration } from "./engine/stop.ts";

/** A cell of a Markdown table: one line, bars escaped, cut between code points with a mark only when something is cut. */
export function cell(text: string, most = 80): string {
  const line = text
    .replace(/\r\n|[\r\n\u2028\u2029]/g, "⏎")
    .replaceAll("\\", "\\\\")
    .replaceAll("|", "\\|");
  const letters = [...line];
  return letters.length > most
    ? `${letters
        .slice(0, most - 1)
        .join("")
        .replace(/\\$/, "")}…`
    : line;
}

export function table(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(columns), line(columns.map(() => "---")), ...rows.map(line)].join("\n");
}

export const glyphs: Readonly<Record<TaskStatus, string>> = {
  pending: "●",
  running: "▸",
  awaiting_approval: "✋",
  completed: "✓",
  error: "✗",
  timeout: "◇",
  cancelled: "⊘",
};

/** `11 in, 5 out, $0.25`; what nobody said is unknown, not zero. */
export function usageText(usage: Usage | null): string {
  if (usage === null || (usage.inputTokens === null && usage.outputTokens === null)) return "usage unknown";
  const cost = usage.costUsd === null ? "" : `, $${usage.costUsd.toFixed(4).replace(/0{1,2}$/, "")}`;
  return `${usage.inputTokens ?? 0} tokens in, ${usage.outputTokens ?? 0} out${cost}`;
}

/** What stands below a window that is not the whole. */
export function windowText(window: TextWindow, next: (offset: number) => string): string {
  const { offset, chars, totalChars, nextOffset } = window;
  if (offset === 0 && nextOffset === null && chars === totalChars) return "";
  const more = nextOffset === null ? "end" : `next: ${next(nextOffset)}`;
  return `[characters ${offset}-${offset + chars} of ${totalChars}; ${more}]`;
}

/** `2026-11-30 08:12:04`, UTC. */
export function timeText(iso: string | null): string {
  return iso === null ? "–" : iso.slice(0, 19).replace("T", " ");
}
