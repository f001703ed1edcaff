import { ToolError } from "@toolhaft/core";
import { z } from "zod";
import { signalTypes } from "./model.ts";

const name = z.string().min(1).max(300);
const target = { function: name.optional() };

/**
 * What can happen in a session. `approval` and `resolve` are decisions of people and come from the host, never from a
 * tool; a `message` of the user approves nothing.
 */
export const eventSchema = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("activate"),
    function: name,
    args: z.array(z.string()).optional(),
    named: z.record(z.string(), z.string()).optional(),
  }),
  z.strictObject({ type: z.literal("deactivate"), function: name }),
  z.strictObject({ type: z.literal("turn") }),
  z.strictObject({ type: z.literal("message"), text: z.string().optional() }),
  z.strictObject({
    type: z.literal("approval"),
    decision: z.enum(["approved", "rejected"]),
    by: z.string().min(1),
    note: z.string().optional(),
    ...target,
  }),
  z.strictObject({
    type: z.literal("tool"),
    name: name,
    ok: z.boolean(),
    args: z.unknown().optional(),
    output: z.string().optional(),
    agent: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("todos"), total: z.int().min(0), done: z.int().min(0) }),
  z.strictObject({ type: z.literal("evidence"), label: name, value: z.boolean().optional(), ...target }),
  z.strictObject({ type: z.literal("value"), key: name, value: z.json(), ...target }),
  z.strictObject({ type: z.literal("artifact"), name: name, text: z.string().optional() }),
  z.strictObject({
    type: z.literal("signal"),
    signal: z.enum(signalTypes),
    payload: z.record(z.string(), z.unknown()).nullish(),
    by: z.string().optional(),
    callId: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal("resolve"),
    seq: z.int().min(1),
    by: z.string().min(1),
    note: z.string().optional(),
  }),
  z.strictObject({ type: z.literal("idle") }),
]);

export type FunctionEvent = z.infer<typeof eventSchema>;

/** @throws ToolError `invalid_input` with the field and what it takes */
export function checkEvent(given: unknown): FunctionEvent {
  const parsed = eventSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const field = issue === undefined || issue.path.length === 0 ? "event" : `event.${issue.path.join(".")}`;
  const kinds = eventSchema.options.map((option) => option.shape.type.value).join(", ");
  throw new ToolError("invalid_input", `${field}: ${issue?.message ?? "not an event"}`, {
    hint: `events: ${kinds}; such as { type: "activate", function: "plan" }`,
  });
}

/** What the log keeps of an event: texts are matched and not stored. */
export function loggedEvent(event: FunctionEvent): FunctionEvent {
  switch (event.type) {
    case "tool": {
      const { args: _, output: __, ...kept } = event;
      return kept;
    }
    case "message":
    case "artifact": {
      const { text: _, ...kept } = event;
      return kept;
    }
    default:
      return event;
  }
}
