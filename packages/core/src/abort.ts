import { isToolError, type ToolFailure } from "./errors.ts";
import { messageOf } from "./failure.ts";
import { maskSecrets } from "./secrets.ts";

/** How long a tool may take to settle after an abort, in milliseconds. */
export const defaultGraceMs = 2_000;

function isTimeout(signal: AbortSignal): boolean {
  const { reason } = signal;
  return typeof reason === "object" && reason !== null && "name" in reason && reason.name === "TimeoutError";
}

/** The failure of a call whose signal fired: `timeout` when the signal's reason says so, else `cancelled`. */
export function aborted(
  signal: AbortSignal,
  message: string,
  details?: Readonly<Record<string, unknown>>,
): ToolFailure {
  const timeout = isTimeout(signal);
  const why = timeout ? `${messageOf(signal.reason)}: ` : "";
  const more = details === undefined ? {} : { details };
  return { code: timeout ? "timeout" : "cancelled", message: why + message, retryable: timeout, ...more };
}

/** The tool rejected after the abort, so it has stopped. What it said of its own state is kept. */
export function stopped(signal: AbortSignal, thrown: unknown): ToolFailure {
  const said = isToolError(thrown) ? `; ${maskSecrets(thrown.message)}` : "";
  return aborted(
    signal,
    `the call was stopped, and so was the tool${said}`,
    isToolError(thrown) ? thrown.details : undefined,
  );
}

/** The tool did not settle within the grace time. */
class StillRunning extends Error {
  readonly failure: ToolFailure;
  constructor(failure: ToolFailure) {
    super(failure.message);
    this.failure = failure;
  }
}

/** Thrown values may be anything, proxies that refuse to be looked at included. */
export function isStillRunning(thrown: unknown): thrown is StillRunning {
  try {
    return thrown instanceof StillRunning;
  } catch {
    return false;
  }
}

/** As many as a busy host runs at once under one signal, each with a few listeners. */
const listenersOfOneSignal = 1_500;

/**
 * Makes room for the listeners of many calls under one signal: Node takes more than ten for a leak and prints a warning.
 * A limit that somebody chose is left alone.
 */
export function roomForListeners(signal: AbortSignal): void {
  const events = typeof process === "object" ? process.getBuiltinModule?.("node:events") : undefined;
  if (events === undefined) return;
  try {
    if (events.getMaxListeners(signal) === events.defaultMaxListeners)
      events.setMaxListeners(listenersOfOneSignal, signal);
  } catch {
    // No signal of Node's own, or one whose limit was lifted altogether, which Node 20 takes for none: both are never warned of.
  }
}

/**
 * Runs with an abort that is cooperative and honest: work that finishes is a success, work that hangs is said to run on.
 *
 * @throws StillRunning when the signal fired and nothing settled within `graceMs`.
 */
export function settleOrAbort(run: () => Promise<unknown>, signal: AbortSignal, graceMs: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
    };
    const onAbort = (): void => {
      timer = setTimeout(() => {
        end();
        const message = `the call was stopped, but the tool has not stopped within ${graceMs} ms: it is still running, and its effects are unknown`;
        reject(new StillRunning(aborted(signal, message, { stillRunning: true })));
      }, graceMs);
    };
    roomForListeners(signal);
    signal.addEventListener("abort", onAbort, { once: true });
    // A function that throws at once rejects like one that does so later.
    new Promise((settled) => settled(run())).then(
      (value) => {
        end();
        resolve(value);
      },
      (thrown: unknown) => {
        end();
        reject(thrown);
      },
    );
  });
}
