import { type ErrorCode, ToolError } from "@toolhaft/core";

/** One thing that keeps a call from being written. */
export interface Problem {
  /** Index of the edit in its file; `null` where the file as a whole is meant. */
  readonly edit: number | null;
  readonly code: ErrorCode;
  /** A clause: what is wrong. */
  readonly reason: string;
  readonly hint?: string;
  /** Line the edit names, in the version it was made for. */
  readonly line?: number;
  /** Right anchor or value, where there is one. */
  readonly expected?: string;
  readonly actual?: string;
  /** Lines of the file as it is now that help to answer, before their surroundings are added. */
  readonly show?: readonly number[];
}

/** Problems of one file, thrown together. */
export class ProblemError extends ToolError {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    const [first] = problems;
    const hint = problems.find((problem) => problem.hint)?.hint;
    const message = problems.map(describe).join("; ");
    super(first?.code ?? "internal", message, hint === undefined ? {} : { hint });
    this.problems = problems;
  }
}

/** A problem as a clause that names its edit, counted from 1. */
export function describe(problem: Problem): string {
  return problem.edit === null ? problem.reason : `edit ${problem.edit + 1}: ${problem.reason}`;
}
