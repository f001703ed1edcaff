import type { Signal } from "./model.ts";
import { severity } from "./signal-types.ts";
import type { Terminating } from "./store.ts";

/** Which of the terminating signals came last, and which weighs most. */
export function summarise(signals: readonly Signal[]): Terminating {
  const weight = (signal: Signal) => severity.indexOf(signal.type);
  const mostSevere = signals.reduce<Signal | undefined>(
    (worst, signal) => (worst === undefined || weight(signal) >= weight(worst) ? signal : worst),
    undefined,
  );
  return { signals, latest: signals.at(-1), mostSevere };
}
