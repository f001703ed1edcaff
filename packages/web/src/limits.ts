import { ToolError } from "@toolhaft/core";

/**
 * Runs work under the call's signal and a time limit of its own.
 *
 * @throws ToolError `timeout` when the limit is over, whatever the work made of the abort
 */
export async function withinTime<T>(
  ms: number,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const reason = new DOMException("the time limit is over", "TimeoutError");
  const timer = setTimeout(() => limit.abort(reason), ms);
  const signal = outer === undefined ? limit.signal : AbortSignal.any([outer, limit.signal]);
  try {
    return await work(signal);
  } catch (error) {
    if (limit.signal.aborted && outer?.aborted !== true) {
      throw new ToolError("timeout", `no result within ${ms / 1000} s`, { hint: "use a larger timeout", cause: error });
    }
    throw error;
  } finally {
    clearTimeout(timer);
  }
}
