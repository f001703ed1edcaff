import type { ReadyRule } from "./definition.ts";
import type { ProgressTracker } from "./progress.ts";
import { bounded, TimedOut } from "./waiting.ts";

/** Whether a server has loaded its project. */
export interface Readiness {
  /** Looks without waiting. */
  readonly loaded: boolean;
  /** What it is doing, for people. */
  describe(): string;
  /** Waits until loaded, at most `ms`; `false` when the time is over. */
  wait(ms: number, signal?: AbortSignal): Promise<boolean>;
  handleNotification(method: string, params: unknown): void;
  /** The first document was opened: some servers start to load only then. */
  documentOpened(): void;
}

export function createReadiness(rule: ReadyRule | undefined, progress: ProgressTracker): Readiness {
  const kind = rule?.by ?? "progress-if-seen";
  const beginWithinMs = rule?.beginWithinMs ?? 1_500;
  const pattern = rule?.matches === undefined ? undefined : new RegExp(rule.matches);
  const listeners = new Set<() => void>();
  let notified = false;
  let firstOpen: number | undefined;
  const changed = () => {
    for (const listener of [...listeners]) listener();
  };
  progress.onChange(changed);
  const begun = () => progress.seen || (firstOpen !== undefined && performance.now() - firstOpen >= beginWithinMs);
  const isLoaded = () => {
    if (kind === "none") return true;
    if (progress.running().length > 0) return false;
    if (kind === "notification") return notified;
    if (kind === "progress") return begun();
    return true;
  };
  return {
    get loaded() {
      return isLoaded();
    },
    describe: () => progress.describe() ?? "loading",
    async wait(ms, signal) {
      if (isLoaded()) return true;
      // a progress that has to begin within some time needs a look when that time is over
      const timer = kind === "progress" && !begun() ? setInterval(changed, 50) : undefined;
      let unsubscribe = () => {};
      const loaded = new Promise<void>((resolve) => {
        const look = () => {
          if (isLoaded()) resolve();
        };
        listeners.add(look);
        unsubscribe = () => listeners.delete(look);
      });
      try {
        await bounded(loaded, ms, signal);
        return true;
      } catch (error) {
        if (error instanceof TimedOut) return false;
        throw error;
      } finally {
        unsubscribe();
        clearInterval(timer);
      }
    },
    handleNotification(method, params) {
      if (kind !== "notification" || method !== rule?.method || pattern === undefined) return;
      let value: unknown = params;
      for (const part of rule.path?.split(".") ?? []) {
        value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[part] : undefined;
      }
      const hit = pattern.test(String(value));
      // a state that comes and goes ("quiescent") is followed, a log line counts once
      if (hit) notified = true;
      else if (typeof value === "boolean") notified = false;
      changed();
    },
    documentOpened() {
      if (firstOpen !== undefined) return;
      firstOpen = performance.now();
      changed();
    },
  };
}
