import type { JsonRecord } from "./json-line.ts";
import { finite, list, objects, text } from "./shapes.ts";

/** One hunk of a patch as hosts keep it: 1-based starts, lines with their sign. */
export interface Hunk {
  oldStart: number;
  oldLines: number;
  newStart: number;
  newLines: number;
  lines: readonly string[];
}

/** Hunks of a `structuredPatch`; undefined when one of them has a wrong shape. */
export function hunksOf(value: unknown): readonly Hunk[] | undefined {
  const hunks = objects(value).map(hunkOf);
  return hunks.every((hunk) => hunk !== undefined) ? (hunks as readonly Hunk[]) : undefined;
}

function hunkOf(value: JsonRecord): Hunk | undefined {
  const oldStart = finite(value.oldStart);
  const oldLines = finite(value.oldLines);
  const newStart = finite(value.newStart);
  const newLines = finite(value.newLines);
  const lines = list(value.lines).map(text);
  if (oldStart === undefined || oldLines === undefined || newStart === undefined || newLines === undefined) return;
  if (lines.some((line) => line === undefined)) return;
  return { oldStart, oldLines, newStart, newLines, lines: lines.flatMap((line) => line ?? []) };
}

/** Hunks of a unified diff's text, without its file headers. */
export function parseUnified(diff: string): readonly Hunk[] {
  const hunks: { oldStart: number; oldLines: number; newStart: number; newLines: number; lines: string[] }[] = [];
  for (const line of diff.split("\n")) {
    const head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (head) {
      const [, oldStart, oldLines = "1", newStart, newLines = "1"] = head;
      hunks.push({
        oldStart: Number(oldStart),
        oldLines: Number(oldLines),
        newStart: Number(newStart),
        newLines: Number(newLines),
        lines: [],
      });
    } else if (/^[ +\\-]/.test(line)) {
      hunks.at(-1)?.lines.push(line);
    }
  }
  return hunks;
}

export function hunkCounts(hunks: readonly Hunk[]): { additions: number; deletions: number } {
  const signs = hunks.flatMap(({ lines }) => lines.map((line) => line[0]));
  return {
    additions: signs.filter((sign) => sign === "+").length,
    deletions: signs.filter((sign) => sign === "-").length,
  };
}

/** The hunks as text of a unified diff, without file headers. */
export function hunksText(hunks: readonly Hunk[]): string {
  return hunks
    .map(({ oldStart, oldLines, newStart, newLines, lines }) => {
      const head = `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@`;
      return `${[head, ...lines].join("\n")}\n`;
    })
    .join("");
}

function range(start: number, lines: number): string {
  return lines === 1 ? String(start) : `${start},${lines}`;
}

/** The text after the hunks, or undefined when they do not fit it. Line ends of untouched lines stay as they are. */
export function applyHunks(before: string, hunks: readonly Hunk[]): string | undefined {
  const lines = before === "" ? [] : before.split(/(?<=\n)/);
  const out: string[] = [];
  let at = 0;
  for (const hunk of hunks) {
    const start = hunk.oldLines === 0 ? hunk.oldStart : hunk.oldStart - 1;
    if (start < at || start > lines.length) return;
    out.push(...lines.slice(at, start));
    at = start;
    for (const [index, line] of hunk.lines.entries()) {
      const sign = line[0];
      const body = line.slice(1);
      if (sign === "\\") continue;
      if (sign === "+") {
        const last = hunk.lines[index + 1]?.startsWith("\\") ?? false;
        out.push(last ? body : `${body}\n`);
        continue;
      }
      const old = lines[at];
      if (old === undefined || old.replace(/\r?\n$/, "") !== body.replace(/\r$/, "")) return;
      if (sign === " ") out.push(old);
      at += 1;
    }
  }
  out.push(...lines.slice(at));
  return out.join("");
}
