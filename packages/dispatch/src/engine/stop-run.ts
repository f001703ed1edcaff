import { cancelTask } from "../cancel.ts";
import type { Engine } from "./engine.ts";
import type { Run } from "./run.ts";

/** Ends one run of a dispatcher that closes: its claim is given back, or its task is cancelled with all below it. */
export async function endRun(engine: Engine, run: Run, how: "release" | "cancel" | "wait"): Promise<void> {
  if (how === "cancel") {
    const by = engine.actor;
    const reason = "the dispatcher was closed";
    await cancelTask(engine, run.taskId, by, reason).catch((error: unknown) => engine.fault(String(error)));
    run.stop({ kind: "cancel", by, reason });
  } else run.stop({ kind: "release" });
  await run.done;
}
