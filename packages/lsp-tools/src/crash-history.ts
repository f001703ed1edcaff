import { type Clock, ToolError } from "@toolhaft/core";

/** Crashes within this time add up. */
const windowMs = 180_000;
const mostCrashes = 5;
const longestWaitMs = 60_000;

/** What is held against a server: it outlives the process, and clears after some stable minutes. */
export interface CrashHistory {
  /** Why it ended last, for people. */
  lastError: string | undefined;
  /** Whether it is not started again until it is pardoned. */
  readonly failed: boolean;
  /** Until the next start may be tried, in ms; 0 when it may be now. */
  readonly waitMs: number;
  record(reason: string): void;
  pardon(): void;
  /** @throws ToolError `unavailable` while it has failed or has to wait */
  check(): void;
}

export function createCrashHistory(server: string, clock: Clock): CrashHistory {
  let crashes: number[] = [];
  let failed = false;
  const recent = () => crashes.filter((at) => clock.now() - at < windowMs);
  const call = `lsp_restart_server {"languageId":"${server}"}`;

  const history: CrashHistory = {
    lastError: undefined,
    get failed() {
      return failed;
    },
    /** The first crash is followed by a start at once, the next ones by a wait of 1, 2, 4 … 60 s. */
    get waitMs() {
      const list = recent();
      const last = list.at(-1);
      if (last === undefined || list.length < 2) return 0;
      return Math.max(0, last + Math.min(longestWaitMs, 1_000 * 2 ** (list.length - 2)) - clock.now());
    },
    record(reason) {
      crashes = [...recent(), clock.now()];
      history.lastError = reason;
      if (crashes.length >= mostCrashes) failed = true;
    },
    pardon() {
      crashes = [];
      failed = false;
      history.lastError = undefined;
    },
    check() {
      const why = history.lastError ? `: ${history.lastError}` : "";
      if (failed) {
        throw new ToolError("unavailable", `${server} has failed ${crashes.length} times${why}`, {
          hint: `${call} tries again`,
          details: { state: "failed", server },
        });
      }
      const left = history.waitMs;
      if (left <= 0) return;
      const again = `is started again in ${Math.ceil(left / 1000)} s`;
      throw new ToolError("unavailable", `${server} ended ${crashes.length} times and ${again}${why}`, {
        hint: `${call} starts it at once`,
        retryable: true,
        details: { state: "backoff", retryAfterMs: left },
      });
    },
  };
  return history;
}
