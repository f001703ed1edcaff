import { createHash, randomBytes } from "node:crypto";
import type { Asker, Decision, ToolResult } from "@toolhaft/core";
import type { CallSignal } from "./call-signal.ts";
import { canonical } from "./canonical.ts";
import type { ProgressChannel } from "./progress.ts";
import { decisionFrom, questionFor } from "./question.ts";
import type { CallRequest, Question, QuestionAnswer } from "./types.ts";

/** A call that runs, whichever request stands for it at the moment. */
export interface RunningCall {
  readonly tool: string;
  /** Made when it is needed: the input has passed the tool's checks by then. */
  readonly inputHash: () => string;
  readonly structured: boolean;
  readonly remembers: boolean;
  readonly progress: ProgressChannel;
  readonly signal: CallSignal;
  /** Set once the tool runs; it always resolves. */
  settled: Promise<ToolResult>;
  /** Questions that wait for a person, first come first asked. */
  readonly open: OpenQuestion[];
  /** Wakes whoever waits for the next question. */
  wake: () => void;
}

interface OpenQuestion {
  question: Question;
  answer(decision: Decision): void;
}

/** Calls whose question has gone out, by the state their retry must bring. */
export interface ParkedCalls {
  park(call: RunningCall): { state: string; question: Question } | undefined;
  /** The parked call of a state, once; undefined for a foreign, used, expired or mismatched one. */
  take(request: CallRequest): RunningCall | undefined;
  close(): void;
}

export function createParkedCalls(): ParkedCalls {
  const parked = new Map<string, { call: RunningCall; asked: OpenQuestion }>();
  return {
    park(call) {
      const asked = call.open[0];
      if (asked === undefined) return undefined;
      const state = randomBytes(16).toString("hex");
      parked.set(state, { call, asked });
      // The call may end without an answer: cancelled, or asked for too long.
      void call.settled.then(() => parked.delete(state));
      return { state, question: asked.question };
    },
    take(request) {
      const { resume } = request;
      const entry = resume === undefined ? undefined : parked.get(resume.state);
      if (resume === undefined || entry === undefined) return undefined;
      // A state is good for one try, right or wrong.
      parked.delete(resume.state);
      const { call, asked } = entry;
      if (call.tool !== request.name || call.inputHash() !== hashOfInput(request.arguments)) {
        asked.answer({ allow: false });
        return undefined;
      }
      asked.answer(decisionFrom(resume.answer, asked.question));
      return call;
    },
    close() {
      parked.clear();
    },
  };
}

/** Puts the gate's questions into the call's queue, for a request that ends with each question. */
export function parkingAsker(call: RunningCall): Asker {
  return (asked) =>
    new Promise((resolve) => {
      const entry: OpenQuestion = {
        question: questionFor(asked, call.remembers),
        answer(decision) {
          const at = call.open.indexOf(entry);
          if (at >= 0) call.open.splice(at, 1);
          resolve(decision);
        },
      };
      asked.signal.addEventListener("abort", () => entry.answer({ allow: false }), { once: true });
      call.open.push(entry);
      call.wake();
    });
}

/** Puts the gate's questions straight to the client while the request stays open. */
export function waitingAsker(ask: (question: Question, signal: AbortSignal) => Promise<QuestionAnswer>): Asker {
  return async (asked) => {
    const question = questionFor(asked);
    return decisionFrom(await ask(question, asked.signal), question);
  };
}

/** SHA-256 of the input with sorted keys: the same question for the same input, however it was written. */
export function hashOfInput(input: unknown): string {
  return createHash("sha256").update(canonical(input)).digest("hex");
}
