import { ToolError } from "@toolhaft/core";
import type { Payload, SignalClass, SignalType } from "./model.ts";

const classes: Readonly<Record<SignalType, SignalClass>> = {
  answer: "terminating",
  revise_needed: "terminating",
  escalate: "terminating",
  need_approval: "pausing",
  blocked: "pausing",
  need_clarification: "pausing",
  handoff: "handoff",
  progress: "info",
};

export function classOf(type: SignalType): SignalClass {
  return classes[type];
}

/** Terminating signals by weight: what happened at worst. */
export const severity: readonly SignalType[] = ["answer", "revise_needed", "escalate"];

/** A field that is known for a type. Fields that are not known are kept as they are. */
interface Field {
  expected: string;
  fits(value: unknown): boolean;
}

const text: Field = { expected: "a text", fits: (value) => typeof value === "string" };
const numeric = (least: number, most: number, expected: string, whole: boolean): Field => ({
  expected,
  fits: (value) => typeof value === "number" && value >= least && value <= most && (!whole || Number.isInteger(value)),
});
const fields: Readonly<Record<SignalType, Readonly<Record<string, Field>>>> = {
  answer: {},
  revise_needed: { reason: text },
  escalate: { reason: text },
  need_approval: { question: text, risk: text },
  blocked: { on: text, timeout_ms: numeric(1_000, 86_400_000, "a whole number from 1000 to 86400000", true) },
  need_clarification: { question: text },
  handoff: { target: text },
  progress: { message: text, percent: numeric(0, 100, "a number from 0 to 100", false) },
};

/** Bytes of a payload as JSON. */
export const mostPayloadBytes = 65_536;
const deepest = 32;

/**
 * Checks a payload and gives it as plain JSON.
 *
 * @throws ToolError `invalid_input` for a wrong field and for what is not JSON, `too_large` over 64 KiB
 */
export function checkPayload(type: SignalType, given: unknown): Payload | null {
  if (given === undefined || given === null) return null;
  if (typeof given !== "object" || Array.isArray(given)) {
    throw invalid("payload must be an object", `such as ${example(type)}`);
  }
  const problem = jsonProblem(given, "payload", 0, new Set());
  if (problem !== undefined)
    throw invalid(problem, "give plain JSON: texts, numbers, true, false, null, lists, objects");
  const json = JSON.stringify(given);
  const bytes = new TextEncoder().encode(json).length;
  if (bytes > mostPayloadBytes) {
    throw new ToolError("too_large", `payload has ${bytes} bytes as JSON, at most ${mostPayloadBytes} are kept`, {
      hint: "put the text into an artifact or a file and its name into the payload",
    });
  }
  const payload = JSON.parse(json) as Payload;
  for (const [name, { expected, fits }] of Object.entries(fields[type])) {
    const value = payload[name];
    if (value === undefined || fits(value)) continue;
    throw invalid(`payload.${name} of ${type} must be ${expected}`, `such as ${example(type)}`);
  }
  return payload;
}

/** When a pause ends by itself. */
export function expiryOf(type: SignalType, payload: Payload | null, now: number): number | null {
  const timeout = type === "blocked" ? payload?.timeout_ms : undefined;
  return typeof timeout === "number" ? now + timeout : null;
}

function example(type: SignalType): string {
  const examples: Readonly<Record<SignalType, string>> = {
    answer: '{"summary": "done"}',
    revise_needed: '{"reason": "the tests fail"}',
    escalate: '{"reason": "no access"}',
    need_approval: '{"question": "Delete the table?", "risk": "high"}',
    blocked: '{"on": "review", "timeout_ms": 60000}',
    need_clarification: '{"question": "Which branch?"}',
    handoff: '{"target": "reviewer"}',
    progress: '{"message": "half way", "percent": 50}',
  };
  return examples[type];
}

function jsonProblem(value: unknown, path: string, depth: number, above: Set<object>): string | undefined {
  if (value === null || typeof value === "boolean" || typeof value === "string") return undefined;
  if (typeof value === "number")
    return Number.isFinite(value) ? undefined : `${path} is ${value}, which JSON cannot say`;
  if (typeof value !== "object") return `${path} is a ${typeof value}, which JSON cannot say`;
  if (above.has(value)) return `${path} contains itself`;
  if (depth >= deepest) return `${path} is nested deeper than ${deepest} levels`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && prototype !== Object.prototype && prototype !== null)
    return `${path} is no plain object`;
  above.add(value);
  for (const [key, inner] of Object.entries(value)) {
    if (inner === undefined && !Array.isArray(value)) continue;
    const problem = jsonProblem(inner, Array.isArray(value) ? `${path}[${key}]` : `${path}.${key}`, depth + 1, above);
    if (problem !== undefined) return problem;
  }
  above.delete(value);
  return undefined;
}

function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}
