import type { ConditionRegistry } from "@toolhaft/asset-format";
import { type Clock, createId, ToolError } from "@toolhaft/core";
import type { ArtifactStore } from "./artifacts/artifact.ts";
import { checkEvent, type FunctionEvent, loggedEvent } from "./events.ts";
import { gatherFacts, lookFacts, textOf } from "./facts.ts";
import type { LogEntry, OuterFacts, Phase, SessionState, Signal } from "./model.ts";
import type { Capture } from "./observers.ts";
import { promptOf } from "./prompt.ts";
import { reduceStep, type Step } from "./reduce.ts";
import { checkPayload, classOf, expiryOf } from "./signal-types.ts";
import { type FunctionSpecs, indexSpecs, type SpecIndex } from "./specs/specs.ts";
import { type FunctionStateData, viewState } from "./state-view.ts";
import type { FunctionStore, NewSignal } from "./store.ts";

export interface StepResult {
  /** What changed, in order. */
  log: readonly LogEntry[];
  /** Phases after the step, by id. */
  phases: Readonly<Record<string, Phase>>;
  /** Of a signal: the row of the log. */
  signal?: Signal;
  /** Whether the signal was recorded before under the same call id. */
  repeated: boolean;
  /** Of `idle`: whether some function wants to go on. */
  continue: boolean;
  /** Texts that observers put before the agent. */
  inject: readonly { function: string; text: string }[];
}

export interface FunctionEngine {
  /**
   * Makes one step, in one transaction.
   *
   * @throws ToolError `invalid_input` · `not_found` and `conflict` for a function · `denied` for an approval by an agent ·
   *   `too_large` · `unavailable`, `timeout`: the state is as before
   */
  step(session: string, event: FunctionEvent, signal?: AbortSignal): Promise<StepResult>;
  /** Where the functions of a session stand; changes nothing. */
  state(session: string): Promise<FunctionStateData>;
  /** Bodies of the active functions, with the artifacts they consume marked by their source. */
  prompt(session: string): Promise<string>;
}

export interface Desk {
  readonly specs: FunctionSpecs;
  readonly store: FunctionStore;
  readonly artifacts: ArtifactStore;
  readonly clock: Clock;
  readonly conditions: ConditionRegistry;
  /** Names that agents go by: none of them may approve. */
  readonly agents: readonly string[];
}

/** A step whose captures another process overtakes is tried anew. */
const mostTries = 8;

export function createEngine(desk: Desk): FunctionEngine {
  return {
    step: (session, event, signal) => step(desk, session, event, signal),
    async state(session) {
      checkSession(session);
      const index = indexSpecs(await desk.specs.list());
      const state = await desk.store.read(session);
      const facts = await lookFacts(state, index, desk.artifacts, desk.clock.now());
      return viewState({ desk, state, index, facts: { ...facts, seq: 0 } }, {});
    },
    async prompt(session) {
      checkSession(session);
      return promptOf(desk, session, indexSpecs(await desk.specs.list()));
    },
  };
}

async function step(desk: Desk, session: string, given: FunctionEvent, stop?: AbortSignal): Promise<StepResult> {
  checkSession(session);
  const event = completed(checkEvent(given));
  const index = indexSpecs(await desk.specs.list());
  const seen = await desk.store.read(session);
  await refuse(desk, seen, event);
  if (event.type === "artifact" && event.text !== undefined)
    await desk.artifacts.write(session, event.name, event.text);
  const written = new Set<string>();
  for (let state = seen, tries = 0; tries < mostTries; tries++, state = await desk.store.read(session)) {
    stop?.throwIfAborted();
    const now = Math.floor(desk.clock.now());
    const facts = await gatherFacts(state, event, index, desk.artifacts, now);
    await writeCaptures(desk, session, event, planned(desk, state, event, index, facts), written);
    const done = await transact(desk, session, event, index, facts, written, stop);
    if (done !== undefined) return done;
  }
  throw new ToolError("timeout", `session ${session} changed under ${mostTries} tries of one step`, {
    hint: "try again",
  });
}

/** What would be captured by the state as it was read; inside the transaction nothing can be written to disk. */
function planned(
  desk: Desk,
  state: SessionState,
  event: FunctionEvent,
  index: SpecIndex,
  facts: Omit<OuterFacts, "seq">,
): readonly Capture[] {
  if (event.type !== "tool" && event.type !== "message" && event.type !== "signal") return [];
  const capturing = Object.keys(state.functions).some((id) =>
    index.get(id)?.observe.some((one) => one.captureArtifact !== undefined || one.capturePayloadAs !== undefined),
  );
  if (!capturing) return [];
  return reduceStep(state, event, index, { ...facts, seq: 1 }, desk.conditions).captures;
}

async function writeCaptures(
  desk: Desk,
  session: string,
  event: FunctionEvent,
  captures: readonly Capture[],
  written: Set<string>,
): Promise<void> {
  for (const capture of captures) {
    if (written.has(keyOf(capture))) continue;
    const payload = event.type === "signal" ? JSON.stringify(event.payload ?? {}) : "";
    const text = capture.as === "payload" ? payload : (textOf(event) ?? "");
    await desk.artifacts.write(session, capture.name, text, capture.as);
    written.add(keyOf(capture));
  }
}

const keyOf = ({ name, as }: Capture): string => `${as} ${name}`;

/** Undefined: the state changed so that something else is to be captured first. */
function transact(
  desk: Desk,
  session: string,
  event: FunctionEvent,
  index: SpecIndex,
  outer: Omit<OuterFacts, "seq">,
  written: ReadonlySet<string>,
  stop: AbortSignal | undefined,
): Promise<StepResult | undefined> {
  const callId = event.type === "signal" ? event.callId : undefined;
  return desk.store.transact<StepResult | undefined>(
    session,
    (before, { seq, repeated }) => {
      if (repeated) return { result: resultOf(before, [], { signal: repeated, repeated: true, continue: false }) };
      const facts = { ...outer, seq };
      const made = reduceStep(before, event, index, facts, desk.conditions);
      if (made.captures.some((capture) => !written.has(keyOf(capture)))) return { result: undefined };
      const signal = event.type === "signal" ? newSignal(event, made, facts.now) : undefined;
      const recorded = signal && { ...signal, seq, session };
      return {
        result: resultOf(made.state, made.log, {
          repeated: false,
          continue: made.continue,
          ...(recorded && { signal: recorded }),
        }),
        write: {
          state: made.state,
          entry: { at: facts.now, event: loggedEvent(event), facts, log: made.log },
          resolutions: made.resolutions,
          ...(signal && { signal }),
        },
      };
    },
    { ...(callId !== undefined && { callId }), ...(stop && { signal: stop }) },
  );
}

function newSignal(event: FunctionEvent & { type: "signal" }, made: Step, now: number): NewSignal {
  const payload = event.payload ?? null;
  return {
    id: `sig_${createId(now)}`,
    at: now,
    type: event.signal,
    class: classOf(event.signal),
    payload,
    agent: event.by ?? null,
    callId: event.callId ?? null,
    expiresAt: expiryOf(event.signal, payload, now),
    functions: made.effects,
  };
}

function resultOf(
  state: SessionState,
  log: readonly LogEntry[],
  more: Pick<StepResult, "signal" | "repeated" | "continue">,
): StepResult {
  return {
    log,
    phases: Object.fromEntries(Object.values(state.functions).map(({ id, phase }) => [id, phase])),
    inject: log.flatMap((entry) => (entry.kind === "inject" ? [{ function: entry.function, text: entry.text }] : [])),
    ...more,
  };
}

/** The payload as plain JSON, checked by its type. */
function completed(event: FunctionEvent): FunctionEvent {
  return event.type === "signal" ? { ...event, payload: checkPayload(event.signal, event.payload) } : event;
}

/** What a step may never do, told before anything is written. */
async function refuse(desk: Desk, state: SessionState, event: FunctionEvent): Promise<void> {
  if (event.type !== "approval" && event.type !== "resolve") return;
  const own = [...desk.agents, ...state.agents].map(plain);
  if (own.includes(plain(event.by))) {
    throw new ToolError(
      "denied",
      `"${event.by}" is an agent of this session, and an agent cannot decide for a person`,
      {
        hint: "approvals and resolutions come from the host, with the name of the person in `by`",
        details: { by: "policy" },
      },
    );
  }
  if (event.type !== "resolve") return;
  const known = await desk.store.signals.since(state.session, event.seq - 1, 1);
  if (known[0]?.seq !== event.seq || known[0].class !== "pausing") {
    const open = state.pauses.map(({ seq }) => `#${seq}`).join(", ");
    throw new ToolError("not_found", `signal #${event.seq} is no pausing signal of this session`, {
      hint: open === "" ? "no pause is open" : `open pauses: ${open}`,
    });
  }
}

function plain(name: string): string {
  return name.normalize("NFKC").trim().toLowerCase();
}

export function checkSession(session: unknown): asserts session is string {
  if (typeof session === "string" && session.trim() !== "" && session.length <= 300 && !session.includes("\0")) return;
  throw new ToolError("invalid_input", "session must be the id of a session: a text of 1 to 300 characters", {
    hint: "pass the session id of the conversation",
  });
}
