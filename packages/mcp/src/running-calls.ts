import { type AnyTool, createId, type ToolContext, type ToolResult } from "@toolhaft/core";
import { movingSignal } from "./call-signal.ts";
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
  /** Stops parked calls and waits for all. Calls whose request is open end with its signal, which its connection aborts. */
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
  const parkable = new Set<RunningCall>();
  let active = 0;
  let onIdle: () => void = () => undefined;

  const toReply = (result: ToolResult, request: boolean): CallReply => ({
    kind: "result",
    result: toCallResult(result, { option: structured, request }, store),
  });

  /** The call and its request begin and end together. */
  const direct = async (tool: AnyTool, request: CallRequest, context: ToolContext): Promise<CallReply> => {
    const progress = createProgressChannel(request, onError);
    active++;
    try {
      const result = await tool.call(request.arguments, {
        ...context,
        callId: createId(),
        agent: agentOf(request),
        signal: request.signal,
        ...(request.ask !== undefined && request.ask !== "park" && { asker: waitingAsker(request.ask) }),
        ...(progress.update && { progress: progress.update }),
      });
      if (progress.update) await progress.end();
      return toReply(result, wantsStructured(request));
    } finally {
      active--;
      if (active === 0) onIdle();
    }
  };

  /** Waits until the call is done or has a question for a person. */
  const next = async (call: RunningCall, request: CallRequest): Promise<CallReply> => {
    const asked = new Promise<undefined>((resolve) => {
      call.wake = () => resolve(undefined);
      if (call.open.length > 0) resolve(undefined);
    });
    const result = await Promise.race([call.settled, asked]);
    if (result !== undefined) {
      await call.progress.end();
      return toReply(result, call.structured);
    }
    const question = parked.park(call);
    if (question === undefined) return next(call, request);
    if (request.staysOpen !== true) {
      // The request is over with its question: only the retry may end the call, or its time.
      call.progress.attach(undefined);
      call.signal.release();
    }
    return { kind: "question", ...question };
  };

  const startParkable = (tool: AnyTool, request: CallRequest, context: ToolContext): RunningCall => {
    const call: RunningCall = {
      tool: request.name,
      inputHash: () => hashOfInput(request.arguments),
      structured: wantsStructured(request),
      remembers: request.remembers !== false,
      progress: createProgressChannel(request, onError),
      signal: movingSignal(),
      settled: new Promise(() => undefined),
      open: [],
      wake: () => undefined,
    };
    call.signal.follow(request.signal);
    parkable.add(call);
    const { update } = call.progress;
    call.settled = tool
      .call(request.arguments, {
        ...context,
        callId: createId(),
        agent: agentOf(request),
        signal: call.signal.value,
        asker: parkingAsker(call),
        ...(update && { progress: update }),
      })
      .finally(() => {
        parkable.delete(call);
        call.signal.release();
      });
    return call;
  };

  return {
    start(tool, request, context) {
      if (request.ask !== "park") return direct(tool, request, context);
      return next(startParkable(tool, request, context), request);
    },
    async resume(request) {
      const call = parked.take(request);
      if (call === undefined) return expired;
      call.progress.attach(request);
      call.signal.follow(request.signal);
      return next(call, request);
    },
    async close() {
      const calls = [...parkable];
      for (const { signal } of calls) signal.abort(new Error("the server is closing"));
      const idle =
        active === 0
          ? undefined
          : new Promise<void>((resolve) => {
              onIdle = resolve;
            });
      await Promise.all([idle, ...calls.map(({ settled }) => settled)]);
      parked.close();
    },
  };
}

const wantsStructured = ({ meta }: CallRequest): boolean => meta?.[structuredKey] === true;

/** Who calls, for the policy: the client's own name. */
export function agentOf({ client }: Pick<CallRequest, "client">): string {
  return client === undefined || client === "" ? "main" : client;
}
