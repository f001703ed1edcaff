import { isToolError, type Middleware } from "@toolhaft/core";
import { createEngine } from "./engine.ts";
import type { DeskOf } from "./functions.ts";

export interface ObserveOptions {
  /** Told when an event could not be recorded; the tool's result stands. @default a process warning */
  onError?(error: unknown): void;
}

const ownTools = new Set(["signal", "function_state", "function_graph"]);

/** After each call of a tool, a `tool` event for the session of the call, if functions are active in it. */
export function observer(deskOf: DeskOf, { onError = warn }: ObserveOptions = {}): Middleware {
  return async (call, next) => {
    const result = await next(call);
    const { name } = call.tool;
    if (ownTools.has(name)) return result;
    try {
      const { sessionId, agent } = call.context;
      const desk = deskOf(call.context);
      // Without a function there is nothing that could observe, and nothing is written.
      const { functions } = await desk.store.read(sessionId);
      if (Object.keys(functions).length > 0)
        await createEngine(desk).step(sessionId, { type: "tool", name, ok: result.ok, output: result.text, agent });
    } catch (error) {
      // What the tool did is done: a log that cannot be written must not turn it into a failure.
      onError(error);
    }
    return result;
  };
}

function warn(error: unknown): void {
  const message = isToolError(error) || error instanceof Error ? error.message : String(error);
  process.emitWarning(`functions: a tool call was not recorded: ${message}`, "ToolhaftWarning");
}
