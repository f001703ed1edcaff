import { type AnyTool, createId, type ToolContext } from "@toolhaft/core";
import { createParkedCalls, hashOfInput, parkingAsker, type RunningCall, waitingAsker } from "./parked-calls.ts";
import { createProgressChannel } from "./progress.ts";
import { structuredKey, toCallResult } from "./result.ts";
import type { ResultsStore } from "./results-store.ts";
import type { CallReply, CallRequest } from "./types.ts";

/** The calls of one session, each from its first request over its questions to its result. */
export interface RunningCalls {
  start(tool: AnyTool, request: CallRequest, context: ToolContext): Promise<CallReply>;
  /** Goes on with a parked call; a state that is foreign, used or expired approves nothing. */
  resume(request: CallRequest): Promise<CallReply>;
  close(): Promise<void>;
}

const expired: CallReply = {
  kind: "result",
  result: { content: [{ type: "text", text: "denied: the question has expired, call again" }], isError: true },
};

export function createRunningCalls(
  structured: boolean,
  store: ResultsStore,
  onError: (error: Error) => void,
): RunningCalls {
  const parked = createParkedCalls();
  const running = new Set<RunningCall>();

  /** Waits until the call is done or has a question for a person. */
  const reply = async (call: RunningCall, request: CallRequest): Promise<CallReply> => {
    const asked = new Promise<undefined>((resolve) => {
      call.wake = () => resolve(undefined);
      if (call.open.length > 0) resolve(undefined);
    });
    const result = await Promise.race([call.settled, asked]);
    if (result !== undefined) {
      await call.progress.end();
      return { kind: "result", result: toCallResult(result, { option: structured, request: call.structured }, store) };
    }
    const question = parked.park(call);
    if (question === undefined) return reply(call, request);
    if (request.staysOpen !== true) {
      // The request is over with its question: only the retry may end the call, or its time.
      call.progress.attach(undefined);
      call.release();
    }
    return { kind: "question", ...question };
  };

  return {
    start(tool, request, context) {
      const call: RunningCall = {
        tool: request.name,
        inputHash: request.ask === "park" ? hashOfInput(request.arguments) : "",
        structured: request.meta?.[structuredKey] === true,
        progress: createProgressChannel(request, onError),
        controller: new AbortController(),
        settled: new Promise(() => undefined),
        release: () => undefined,
        open: [],
        wake: () => undefined,
      };
      follow(call, request);
      running.add(call);
      const asker = request.ask === "park" ? parkingAsker(call) : request.ask && waitingAsker(request.ask);
      const { update } = call.progress;
      call.settled = tool
        .call(request.arguments, {
          ...context,
          callId: createId(),
          agent: agentOf(request),
          signal: call.controller.signal,
          ...(asker && { asker }),
          ...(update && { progress: update }),
        })
        .finally(() => {
          running.delete(call);
          call.release();
        });
      return reply(call, request);
    },
    async resume(request) {
      const call = parked.take(request);
      if (call === undefined) return expired;
      call.progress.attach(request);
      follow(call, request);
      return reply(call, request);
    },
    async close() {
      const calls = [...running];
      for (const { controller } of calls) controller.abort(new Error("the server is closing"));
      await Promise.all(calls.map(({ settled }) => settled));
      parked.close();
    },
  };
}

/** Who calls, for the policy: the client's own name. */
export function agentOf({ client }: Pick<CallRequest, "client">): string {
  return client === undefined || client === "" ? "main" : client;
}

/** From here on this request's end is the call's end. */
function follow(call: RunningCall, { signal }: CallRequest): void {
  call.release();
  const abort = () => call.controller.abort(signal.reason);
  if (signal.aborted) {
    abort();
    return;
  }
  signal.addEventListener("abort", abort, { once: true });
  call.release = () => signal.removeEventListener("abort", abort);
}
