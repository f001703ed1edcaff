import type { ApprovalDecision, Usage } from "@toolhaft/tasks";
import type { RunHandle, RunSink } from "../runner.ts";
import type { Reports } from "./reports.ts";

/** What a run does with what its runner tells. */
export interface Teller {
  /** Nothing counts any more. */
  isOver(): boolean;
  /** Something was told after the end. */
  onLate(): void;
  session(id: string, handle: RunHandle | undefined): Promise<void>;
  handle(handle: RunHandle): void;
  /** A sign of life: text, a tool, usage. */
  sign(): void;
  said(text: string): void;
  price(total: Usage): Usage;
  ask(ask: Parameters<RunSink["ask"]>[0]): Promise<ApprovalDecision>;
  readonly reports: Reports;
}

/** The sink that a runner is given: it lets nothing through after the end, and one question at a time. */
export function sinkOf(run: Teller): RunSink {
  let asking: Promise<unknown> = Promise.resolve();
  const isLate = (): boolean => {
    if (!run.isOver()) return false;
    run.onLate();
    return true;
  };
  return {
    async session(id, handle) {
      if (!isLate()) await run.session(id, handle);
    },
    handle(handle) {
      if (!isLate()) run.handle(handle);
    },
    activity({ kind, text }) {
      if (isLate()) return;
      if (kind !== "status") run.sign();
      if (kind === "text") run.said(text);
      run.reports.activity(kind, text);
    },
    async usage({ key, total }) {
      if (isLate()) return;
      run.sign();
      await run.reports.usage(key, run.price(total));
    },
    ask(ask) {
      // The next is put when the one before is answered.
      const answer = asking.then(() => run.ask(ask));
      asking = answer.catch(() => undefined);
      return answer;
    },
    transcript(text) {
      if (!isLate()) run.reports.transcript(text);
    },
  };
}
