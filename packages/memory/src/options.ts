import { type Clock, systemClock, type ToolContext, ToolError } from "@toolhaft/core";
import { defaultHalfLives, type HalfLives } from "./decay.ts";
import { defaultLimits, type Limits } from "./limits.ts";
import type { Category } from "./model.ts";
import type { Weights } from "./rank.ts";
import type { Caller, Provenance } from "./store.ts";

/** Turns texts into vectors; none ships with the package. */
export interface Embedder {
  /** Vectors of another model are ignored and made anew. */
  readonly model: string;
  readonly dimensions: number;
  embed(texts: readonly string[], kind: "document" | "query", signal?: AbortSignal): Promise<readonly Float32Array[]>;
}

export type SecretMode = "warn" | "mask" | "refuse" | "off";

/** Options that all four families share. */
export interface PlaceOptions {
  /** File of the store. @default memory.db in the state folder */
  path?: string;
  /** State folder of a call. @default `<ctx.directory>/.toolhaft` */
  stateDir?(ctx: ToolContext): string;
  /** Keeps projects apart that share one store. @default "." */
  workspace?: string | ((ctx: ToolContext) => string);
  /** What to do with text that looks like a secret. @default "warn" */
  secrets?: SecretMode;
  limits?: Partial<Limits>;
  /** Milliseconds a write waits for another process. @default 30_000 */
  lockTimeoutMs?: number;
  /** `full` also survives a power loss. @default "normal" */
  durability?: "normal" | "full";
  /** @default the clock of the call's context */
  clock?: Clock;
  /** Makes the nonce of a fence: 8 characters. @default random */
  random?(): string;
}

/** How memories are searched and how they fade. */
export interface SearchOptions {
  embedder?: Embedder;
  /** Half-lives in days; null never fades. */
  halfLives?: Partial<Record<Category | "fragment", number | null>>;
  /** Whether a memory is also found by what stands beside it in its thread. @default "thread" */
  neighbours?: "thread" | "off";
  /** Whether recall and get count as use. @default true */
  recordUse?: boolean;
}

export interface Settings {
  limits: Limits;
  halfLives: HalfLives;
  weights: Weights;
  secrets: SecretMode;
  neighbours: "thread" | "off";
  recordUse: boolean;
  embedder: Embedder | undefined;
}

/** Chosen once for all languages on the visible halves; see the README. */
const defaultWeights: Omit<Weights, "halfLives"> = {
  title: 2,
  body: 1,
  tags: 1.5,
  about: 0.2,
  context: [0.4, 0.3, 0.2, 0.1],
  contextLength: 100,
  k: 0.9,
  b: 0.75,
  subject: 1.3,
};

export function settingsOf(options: PlaceOptions & SearchOptions): Settings {
  const halfLives = { ...defaultHalfLives, ...options.halfLives };
  const neighbours = options.neighbours ?? "thread";
  return {
    limits: { ...defaultLimits, ...options.limits },
    halfLives,
    weights: { ...defaultWeights, ...(neighbours === "off" && { context: [] }), halfLives },
    secrets: options.secrets ?? "warn",
    neighbours,
    recordUse: options.recordUse ?? true,
    embedder: options.embedder,
  };
}

/** Who asks, from the context and never from a parameter. */
export function callerOf(ctx: ToolContext, options: PlaceOptions): Caller {
  if (ctx.agent === "") {
    throw new ToolError("invalid_input", "the host gives no agent name, so nobody can own a memory", {
      hint: "set `agent` in the context of the call",
    });
  }
  const { workspace = "." } = options;
  return { workspace: typeof workspace === "string" ? workspace : workspace(ctx), agent: ctx.agent };
}

export function nowOf(ctx: { clock: Clock }, options: PlaceOptions): number {
  return Math.floor((options.clock ?? ctx.clock ?? systemClock).now());
}

export function provenanceOf(ctx: ToolContext, tool: string): Provenance {
  return {
    agent: ctx.agent,
    sessionId: ctx.sessionId,
    ...(ctx.messageId !== undefined && { messageId: ctx.messageId }),
    callId: ctx.callId,
    tool,
  };
}
