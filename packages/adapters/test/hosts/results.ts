import type { ToolResult } from "@toolhaft/core";
import type { OpenQuestion, RunOptions } from "../../src/openai.ts";
import type { Outcome, Turn } from "../conformance.ts";

/** What a program that owns its loop does with a turn: keeps results, and puts open questions to its person. */
export function resultOf(turn: Turn): { host: ProgramHost; options: RunOptions } {
  const kept: ToolResult[] = [];
  let asked = 0;
  const options: RunOptions = {
    // Such a program asks by itself where it has somebody to ask.
    ...(turn.approve !== undefined && { approval: "host" }),
    ...turn.options,
    ...(turn.signal && { signal: turn.signal }),
    onResult(callId, result) {
      kept.push(result);
      turn.options?.onResult?.(callId, result);
    },
  };
  return {
    options,
    host: {
      answer(questions) {
        asked += questions.length;
        return {
          ...options,
          answers: Object.fromEntries(questions.map(({ callId }) => [callId, turn.approve === true])),
        };
      },
      outcome(text) {
        const [result] = kept;
        return {
          text,
          failed: result?.ok === false,
          data: result?.ok ? result.data : undefined,
          ...(result?.fileChanges && { fileChanges: result.fileChanges }),
          asked,
          sent: [],
        };
      },
    },
  };
}

export interface ProgramHost {
  answer(questions: readonly OpenQuestion[]): RunOptions;
  outcome(text: string): Outcome;
}
