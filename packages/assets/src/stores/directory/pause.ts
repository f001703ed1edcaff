import { ToolError } from "@toolhaft/core";

/** Gives other work a turn now and then, and ends when the call is stopped. */
export function pauseFor(signal: AbortSignal | undefined): () => Promise<void> | undefined {
  let last = performance.now();
  return () => {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    return performance.now() - last < 10 ? undefined : turn();
  };

  async function turn(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
  }
}
