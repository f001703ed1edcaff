import { ToolError } from "@toolhaft/core";
import type { ArtifactInfo } from "./artifacts/artifact.ts";
import type { Desk } from "./engine.ts";
import { judge, judgeGate, type Scene, type Verdict } from "./evaluate.ts";
import type { FunctionRecord, OuterFacts, Phase, SessionState, SignalType } from "./model.ts";
import { isMet, nextPhase } from "./settle.ts";
import { byPriority, type FunctionSpec, isWithin, type SpecIndex } from "./specs/specs.ts";

export interface FunctionStateData {
  session: {
    id: string;
    known: boolean;
    turn: number;
    openPause?: { seq: number; type: SignalType; expiresAt?: number | undefined } | undefined;
    latestTerminating: number | null;
  };
  functions: FunctionView[];
  artifacts?: { name: string; path: string; bytes: number; modifiedAt: number }[] | undefined;
  /** Functions in all pages. */
  total: number;
  nextCursor?: string | undefined;
}

export interface FunctionView {
  id: string;
  name: string;
  role: string | null;
  phase: Phase;
  label?: string | undefined;
  run: number;
  turns: number;
  gate?: Verdict | undefined;
  requires: { name: string; met: boolean }[];
  continuation: { count: number; max: number; until?: Verdict | undefined };
  values: Record<string, unknown>;
  problems: string[];
  transitions: (Verdict & { firedAt: number | null; activate: string[]; deactivate: string[] })[];
  evidence?: { required: { label: string; observed: boolean }[]; other: string[] } | undefined;
  artifacts?: { name: string; use: "produces" | "consumes"; state: ArtifactInfo["state"]; path: string }[] | undefined;
}

export interface ViewOptions {
  artifacts?: boolean;
  evidence?: boolean;
  role?: string;
  limit?: number;
  cursor?: string | undefined;
}

/** What is looked at. */
export interface Sight {
  desk: Desk;
  state: SessionState;
  index: SpecIndex;
  facts: OuterFacts;
}

/** A session as it stands: evaluated with what is known now, without firing anything. */
export async function viewState(sight: Sight, options: ViewOptions): Promise<FunctionStateData> {
  const { artifacts = true, limit = Number.POSITIVE_INFINITY } = options;
  const { desk, index, facts } = sight;
  const state = withoutExpired(sight.state, facts.now);
  const records = Object.values(state.functions)
    .filter(({ role }) => options.role === undefined || isWithin(role, options.role))
    .sort((a, b) => byPriority(withPriority(a, index), withPriority(b, index)));
  const from = options.cursor === undefined ? 0 : placeAfter(records, options.cursor);
  const page = records.slice(from, from + limit);
  const now = { ...sight, state };
  const functions = await Promise.all(page.map((record) => viewFunction(now, record, options)));
  const pause = state.pauses.at(-1);
  const last = page.at(-1);
  const files = artifacts ? await desk.artifacts.list(state.session) : [];
  return {
    session: {
      id: state.session,
      known: state.step > 0,
      turn: state.turn,
      ...(pause && {
        openPause: {
          seq: pause.seq,
          type: pause.type,
          ...(pause.expiresAt !== null && { expiresAt: pause.expiresAt }),
        },
      }),
      latestTerminating: state.latestTerminating,
    },
    functions,
    ...(artifacts && {
      artifacts: files.map(({ name, path, bytes, modifiedAt }) => ({ name, path, bytes, modifiedAt })),
    }),
    total: records.length,
    ...(last && from + page.length < records.length && { nextCursor: cursorOf(last.id) }),
  };
}

/** A pause whose time is over holds nothing any more; the next step logs that. */
function withoutExpired(state: SessionState, now: number): SessionState {
  const open = state.pauses.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  if (open.length === state.pauses.length) return state;
  const seqs = new Set(open.map(({ seq }) => seq));
  const functions = Object.fromEntries(
    Object.entries(state.functions).map(([id, record]) => {
      const pausedBy = record.pausedBy.filter((seq) => seqs.has(seq));
      const ended = pausedBy.length === 0 && record.phase === "paused";
      const evidence = ended ? record.evidence.filter((label) => label !== "paused") : record.evidence;
      return [id, { ...record, pausedBy, evidence }];
    }),
  );
  return { ...state, pauses: open, functions };
}

function withPriority({ id }: FunctionRecord, index: SpecIndex) {
  return { id, priority: index.get(id)?.priority ?? Number.MIN_SAFE_INTEGER };
}

async function viewFunction(sight: Sight, record: FunctionRecord, options: ViewOptions): Promise<FunctionView> {
  const { state, index, facts, desk } = sight;
  const { artifacts = true, evidence = true } = options;
  const { id, name, role, run, turns, continued: count } = record;
  const spec = index.get(id);
  const values = structuredClone(record.values);
  if (spec === undefined) {
    const phase = nextPhase(record, undefined, index, false);
    return {
      ...{ id, name, role, phase, run, turns, requires: [], values, transitions: [] },
      continuation: { count, max: 0 },
      problems: ["no file defines this function any more"],
      ...(evidence && { evidence: { required: [], other: [...record.evidence] } }),
      ...(artifacts && { artifacts: [] }),
    };
  }
  const scene: Scene = { record, spec, state, artifacts: facts.artifacts, registry: desk.conditions };
  const gate = judgeGate(scene);
  const { continueUntil: until, continueMax: max } = spec;
  return {
    id,
    name,
    role,
    phase: nextPhase(record, scene, index, false),
    ...(spec.label !== undefined && { label: spec.label }),
    run,
    turns,
    ...(gate && { gate }),
    requires: spec.requires.map((required) => ({ name: required, met: isMet(required, spec, state, index) })),
    continuation: { count, max, ...(until && { until: judge(until, scene) }) },
    values,
    problems: [...spec.problems, ...unknownNames(spec, index)],
    transitions: spec.transitions.map((transition, position) => ({
      ...judge(transition.when, scene),
      firedAt: record.fired.find((mark) => mark.index === position)?.at ?? null,
      activate: [...transition.activate],
      deactivate: [...transition.deactivate],
    })),
    ...(evidence && { evidence: evidenceOf(record, spec) }),
    ...(artifacts && { artifacts: await artifactsOf(desk, state.session, spec) }),
  };
}

function unknownNames(spec: FunctionSpec, index: SpecIndex): string[] {
  return spec.requires
    .filter((name) => index.inScope(name, spec.role) === undefined)
    .map((name) => `requires "${name}", which no file defines`);
}

function evidenceOf(
  { evidence }: FunctionRecord,
  { requiresEvidence }: FunctionSpec,
): NonNullable<FunctionView["evidence"]> {
  return {
    required: requiresEvidence.map((label) => ({ label, observed: evidence.includes(label) })),
    other: evidence.filter((label) => !requiresEvidence.includes(label)),
  };
}

async function artifactsOf(
  desk: Desk,
  session: string,
  spec: FunctionSpec,
): Promise<NonNullable<FunctionView["artifacts"]>> {
  const uses = [
    ...spec.produces.map((name) => ({ name, use: "produces" as const })),
    ...spec.consumes.map((name) => ({ name, use: "consumes" as const })),
  ];
  return Promise.all(
    uses.map(async ({ name, use }) => {
      const { state, path } = await desk.artifacts.stat(session, name);
      return { name, use, state, path };
    }),
  );
}

function cursorOf(id: string): string {
  return Buffer.from(id, "utf8").toString("base64url");
}

/** @throws ToolError `invalid_input` for a cursor that is none of this list */
function placeAfter(records: readonly FunctionRecord[], cursor: string): number {
  const id = Buffer.from(cursor, "base64url").toString("utf8");
  const at = records.findIndex((record) => record.id === id);
  if (at >= 0 && cursorOf(id) === cursor) return at + 1;
  throw new ToolError("invalid_input", "cursor is not from a reply about this session", {
    hint: "leave cursor out to start with the first page",
  });
}
