import { type ErrorCode, ToolError } from "@toolhaft/core";
import { anchorOf, type TextCodes } from "./anchor.ts";
import { shownText } from "./annotate.ts";
import { describe, type Problem } from "./problem.ts";
import { addRange, type Ranges } from "./ranges.ts";

/** Why one file of a call cannot be written. */
export interface FileRejection {
  readonly name: string;
  readonly problems: readonly Problem[];
  /** The file as it is now; absent when it cannot be read as text. */
  readonly codes?: TextCodes;
}

/** What an application reads of a rejection, one entry a problem. */
export interface RejectionDetail {
  filePath: string;
  edit: number | null;
  reason: string;
  line: number | null;
  expected: string | null;
  actual: string | null;
  /** Lines of the file with their anchors. */
  context: readonly string[];
}

export interface Rejection {
  readonly error: ToolError;
  /** Lines that the error shows whole, per rejected file. */
  readonly shown: readonly Ranges[];
}

/** Lines shown of each file, and characters of all. */
const LINES = 40;
const CHARS = 16_000;
const AROUND = 2;

/** One error for everything that is wrong with a call, with the lines and anchors that answer it. */
export function rejection(rejected: readonly FileRejection[], valid: readonly string[]): Rejection {
  const parts: string[] = [];
  const details: RejectionDetail[] = [];
  const shown: Ranges[] = [];
  let left = CHARS;
  for (const { name, problems, codes } of rejected) {
    const context = codes ? contextOf(codes, problems, left) : { lines: [], shown: [], chars: 0 };
    left -= context.chars;
    shown.push(context.shown);
    parts.push(headline(name, problems) + linesNow(codes, context.lines));
    for (const problem of problems) {
      details.push({
        filePath: name,
        edit: problem.edit,
        reason: problem.reason,
        line: problem.line ?? null,
        expected: problem.expected ?? null,
        actual: problem.actual ?? null,
        context: context.lines,
      });
    }
  }
  if (valid.length > 0) parts.push(`Valid, not written: ${valid.join(", ")}`);
  const hints = [...new Set(rejected.flatMap(({ problems, codes }) => hintsOf(problems, codes)))];
  const error = new ToolError(codeOf(rejected), parts.join("\n"), {
    ...(hints.length > 0 ? { hint: hints.slice(0, 4).join("; ") } : {}),
    details: Object.assign<RejectionDetail[], Record<string, unknown>>(details, {}),
  });
  return { error, shown };
}

function codeOf(rejected: readonly FileRejection[]): ErrorCode {
  return rejected[0]?.problems[0]?.code ?? "internal";
}

const MOST_PROBLEMS = 20;

/** Every problem as a clause; the file's name is in front unless the first clause begins with it. */
function headline(name: string, problems: readonly Problem[]): string {
  const clauses = problems.slice(0, MOST_PROBLEMS).map((problem) => {
    // Such a clause names its file and its edit by itself.
    return problem.reason.startsWith(name) ? problem.reason : describe(problem);
  });
  if (problems.length > MOST_PROBLEMS) clauses.push(`and ${problems.length - MOST_PROBLEMS} more`);
  const text = clauses.join("; ");
  return text.startsWith(name) ? text : `${name}: ${text}`;
}

function linesNow(codes: TextCodes | undefined, lines: readonly string[]): string {
  if (!codes) return "";
  if (codes.text.lineCount === 0) return ". The file is empty: append without pos.";
  return lines.length > 0 ? `. Lines now:\n${lines.join("\n")}` : ".";
}

/** Lines around those the problems point at: first these, then their neighbours, as long as there is room. */
function contextOf(
  codes: TextCodes,
  problems: readonly Problem[],
  room: number,
): { lines: readonly string[]; shown: Ranges; chars: number } {
  const { text, maxLineChars } = codes;
  const wanted = new Set<number>();
  const asked = problems.flatMap(({ show }) => show ?? []).filter((line) => line >= 1 && line <= text.lineCount);
  for (let distance = 0; distance <= AROUND; distance++) {
    for (const line of asked) {
      for (const near of [line - distance, line + distance]) {
        if (near >= 1 && near <= text.lineCount && wanted.size < LINES) wanted.add(near);
      }
    }
  }
  let chars = 0;
  let shown: Ranges = [];
  const lines: string[] = [];
  for (const line of [...wanted].sort((a, b) => a - b)) {
    const words = shownText(text, line, maxLineChars);
    const row = `${anchorOf(codes, line)}|${words}`;
    if (chars + row.length + 1 > room) {
      lines.push(`${anchorOf(codes, line)}|… (not shown)`);
      chars += 40;
      if (chars > room) break;
      continue;
    }
    chars += row.length + 1;
    lines.push(row);
    if (words === text.text(line)) shown = addRange(shown, line, line);
  }
  return { lines, shown, chars };
}

/** The hints of the problems, and for wrong anchors the right ones. */
function hintsOf(problems: readonly Problem[], codes: TextCodes | undefined): readonly string[] {
  const hints = problems.flatMap(({ hint }) => (hint === undefined ? [] : [hint]));
  const anchored = problems.some(({ code, show }) => code === "invalid_input" && (show?.length ?? 0) > 0);
  if (!anchored || !codes || codes.text.lineCount === 0) return hints;
  const right = problems.flatMap(({ expected }) => (expected?.includes("#") ? [`"${expected}"`] : []));
  const named = right.length > 0 ? `, such as ${[...new Set(right)].slice(0, 5).join(", ")}` : "";
  return [...hints, `take the anchors from the lines shown${named}, and check that they are the lines you mean`];
}
