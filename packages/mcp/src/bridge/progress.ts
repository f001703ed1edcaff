import type { ProgressUpdate } from "@toolhaft/core";
import { plainText } from "./schema.ts";

/** Updates by the tokens that we gave out ourselves. */
export interface ProgressTable {
  /** A token for one call; its updates come until it is ended. */
  begin(listener: (update: ProgressUpdate) => void): { token: string; end(): Promise<void> };
  /** Takes `notifications/progress`; unknown tokens are nobody's. */
  handle(params: unknown): void;
}

/**
 * The SDK's own `onprogress` forgets a call in the same turn in which its answer comes and so loses updates that were
 * sent before it. Here a token lives until everything that came with the answer has been handled.
 */
export function createProgressTable(): ProgressTable {
  const listeners = new Map<string, (update: ProgressUpdate) => void>();
  let last = 0;
  return {
    begin(listener) {
      const token = `call-${++last}`;
      listeners.set(token, listener);
      return {
        token,
        async end() {
          await new Promise((resolve) => setImmediate(resolve));
          listeners.delete(token);
        },
      };
    },
    handle(params) {
      if (typeof params !== "object" || params === null || !("progressToken" in params)) return;
      const listener = listeners.get(String(params.progressToken));
      if (listener === undefined) return;
      const number = (name: "progress" | "total") => {
        const value = name in params ? (params as Record<string, unknown>)[name] : undefined;
        return typeof value === "number" && Number.isFinite(value) ? { [name]: value } : {};
      };
      const message =
        "message" in params && typeof params.message === "string" ? { message: plainText(params.message, 500) } : {};
      listener({ ...number("progress"), ...number("total"), ...message });
    },
  };
}
