import { defineTool } from "@toolhaft/core";
import { z } from "zod";
import { createEngine } from "../engine.ts";
import type { DeskOf } from "../functions.ts";
import { type SignalEffect, signalTypes } from "../model.ts";
import { oneLine, plural } from "../present.ts";
import { checkPayload } from "../signal-types.ts";

const effect = z.enum(["paused", "completed", "resumed", "recorded"]);
const output = z.object({
  seq: z.int(),
  id: z.string(),
  at: z.number(),
  type: z.enum(signalTypes),
  class: z.enum(["terminating", "pausing", "handoff", "info"]),
  payload: z.record(z.string(), z.unknown()).nullable(),
  recordedOn: z.int(),
  functions: z.array(z.object({ id: z.string(), effect })),
  session: z.object({ openPause: z.int().nullable(), latestTerminating: z.int().nullable() }),
  repeated: z.boolean(),
});

/** `signal`: an out-of-band control signal, kept in the session's log. */
export function signalTool(deskOf: DeskOf) {
  return defineTool({
    name: "signal",
    title: "Send a signal",
    description:
      "Tells the host how work stands. answer, revise_needed, escalate end it; need_approval, blocked, need_clarification pause it for a person; handoff names who goes on; progress is noted.",
    keywords: ["ask for approval", "blocked", "escalate", "handoff", "progress", "done", "pause"],
    inputSchema: z.object({
      type: z.enum(signalTypes).describe("Kind."),
      payload: z
        .record(z.string(), z.unknown())
        .optional()
        .describe(
          "question, risk (need_approval), question (need_clarification), on, timeout_ms (blocked), target (handoff), reason (revise_needed, escalate), message, percent 0-100 (progress) …",
        ),
    }),
    outputSchema: output,
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    async execute({ type, payload: given }, context) {
      const { sessionId, callId, agent, signal: stop } = context;
      const payload = checkPayload(type, given);
      const desk = deskOf(context);
      const event = { type: "signal" as const, signal: type, payload, by: agent, callId };
      const { signal, repeated } = await createEngine(desk).step(sessionId, event, stop);
      if (signal === undefined) throw new Error("a signal was stepped and not recorded");
      const { pauses, latestTerminating } = await desk.store.read(sessionId);
      return {
        seq: signal.seq,
        id: signal.id,
        at: signal.at,
        type: signal.type,
        class: signal.class,
        payload: signal.payload,
        recordedOn: signal.functions.length,
        functions: [...signal.functions],
        session: { openPause: pauses.at(-1)?.seq ?? null, latestTerminating },
        repeated,
      };
    },
    render(data) {
      const { type, seq, recordedOn, functions } = data;
      const again = data.repeated ? " before, nothing new was recorded" : "";
      const where = recordedOn === 0 ? "no active function" : `on ${plural(recordedOn, "function")}`;
      const parts = [
        `Signal ${type} recorded (#${seq})${again}${recordedOn === 0 ? ", " : " "}${where}`,
        ...(type === "handoff" ? [targetOf(data.payload)] : []),
        ...namesOf(functions, "paused", (names) => `paused: ${names} until #${seq} is resolved`),
        ...namesOf(functions, "completed", (names) => `complete: ${names}`),
        ...namesOf(functions, "resumed", (names) => `resumed: ${names}`),
      ];
      return parts.join(" | ");
    },
  });
}

function targetOf(payload: Record<string, unknown> | null): string {
  const target = payload?.target;
  return typeof target === "string" && target.trim() !== "" ? `to ${oneLine(target, 200)}` : "no target given";
}

/** At most 50 names: 200 functions may be active. */
function namesOf(
  functions: readonly SignalEffect[],
  effect: SignalEffect["effect"],
  text: (names: string) => string,
): string[] {
  const ids = functions.filter((one) => one.effect === effect).map(({ id }) => oneLine(id, 200));
  if (ids.length === 0) return [];
  const more = ids.length > 50 ? ` and ${ids.length - 50} more` : "";
  return [text(ids.slice(0, 50).join(", ") + more)];
}
