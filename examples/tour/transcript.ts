import type { Shown } from "./tour.ts";

/** One step as it ended. */
export interface StepReport {
  number: number;
  title: string;
  outcome: "done" | "skipped" | "failed";
  /** Why it was skipped or failed. */
  reason?: string;
  calls: Shown[];
  seconds: number;
}

const widest = 118;
const mostLines = 14;

/** A numbered step: each call on a line of its own, its answer below, both shortened. */
export function formatStep({ number, title, outcome, reason, calls }: StepReport): string {
  const head = `${String(number).padStart(2)}. ${title}`;
  const body = calls.flatMap(({ call, answer }) => [`    > ${shorten(call)}`, ...answerLines(answer)]);
  const tail = outcome === "done" ? [] : [`    ${outcome}: ${reason ?? ""}`];
  return `${[head, ...body, ...tail].join("\n")}\n`;
}

export function formatSummary(reports: readonly StepReport[], seconds: number, unchanged: boolean): string {
  const count = (outcome: StepReport["outcome"]) => reports.filter((report) => report.outcome === outcome).length;
  const calls = reports.reduce((sum, report) => sum + report.calls.length, 0);
  const state = unchanged ? "the repository is unchanged" : "THE REPOSITORY WAS CHANGED";
  return `${count("done")} steps done, ${count("skipped")} skipped, ${count("failed")} failed; ${calls} calls in ${seconds.toFixed(1)} s; ${state}`;
}

function answerLines(answer: string): string[] {
  const lines = answer.trimEnd().split("\n");
  const kept =
    lines.length > mostLines
      ? [...lines.slice(0, mostLines - 1), `… ${lines.length - mostLines + 1} more lines`]
      : lines;
  return kept.map((line) => `      ${shorten(line)}`);
}

function shorten(text: string): string {
  const line = text.replaceAll("\n", "\\n");
  const letters = [...line];
  return letters.length > widest ? `${letters.slice(0, widest - 1).join("")}…` : line;
}
