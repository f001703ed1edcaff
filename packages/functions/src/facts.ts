import type { ConditionAst } from "@toolhaft/asset-format";
import { type ArtifactStore, contentState, uncheckedBoxes } from "./artifacts/artifact.ts";
import type { FunctionEvent } from "./events.ts";
import type { ArtifactFact, OuterFacts, SessionState } from "./model.ts";
import { conditionsOf, type FunctionSpec, type SpecIndex } from "./specs/specs.ts";

const namesArtifact = new Set(["artifact_exists", "plan_incomplete"]);

/** What a step may look at outside the store, gathered before its transaction begins. */
export async function gatherFacts(
  state: SessionState,
  event: FunctionEvent,
  index: SpecIndex,
  artifacts: ArtifactStore,
  now: number,
): Promise<Omit<OuterFacts, "seq">> {
  const specs = involved(state, event, index);
  const names = new Set(specs.flatMap(artifactNames));
  const facts = await Promise.all(
    [...names].map(async (name) => [name, await factOf(artifacts, state.session, name)] as const),
  );
  const text = textOf(event);
  const needles = specs.flatMap(({ observe }) =>
    observe.flatMap(({ whenOutput }) => [whenOutput?.contains, whenOutput?.notContains]),
  );
  return {
    now,
    artifacts: Object.fromEntries(facts),
    needles: [...new Set(needles)].filter(
      (needle) => needle !== undefined && text?.includes(needle) === true,
    ) as string[],
    text: text === undefined ? null : describe(text),
  };
}

/** The text of an event that may be matched and captured. */
export function textOf(event: FunctionEvent): string | undefined {
  if (event.type === "tool") return event.output;
  return event.type === "message" ? event.text : undefined;
}

/** Functions of the session, the one that is activated, and those that their transitions lead to. */
function involved(state: SessionState, event: FunctionEvent, index: SpecIndex): FunctionSpec[] {
  const found = new Map<string, FunctionSpec>();
  const pending = Object.keys(state.functions).flatMap((id) => index.get(id) ?? []);
  if (event.type === "activate") pending.push(index.find(event.function));
  for (let spec = pending.pop(); spec !== undefined; spec = pending.pop()) {
    if (found.has(spec.id)) continue;
    found.set(spec.id, spec);
    for (const { activate } of spec.transitions)
      for (const name of activate) pending.push(...[index.inScope(name, spec.role)].flatMap((next) => next ?? []));
  }
  return [...found.values()];
}

/** Artifacts that the conditions of a function name. */
function artifactNames(spec: FunctionSpec): string[] {
  return conditionsOf(spec).flatMap(({ condition }) => (condition.ast ? namesIn(condition.ast) : []));
}

function namesIn(ast: ConditionAst): string[] {
  if (ast.kind === "call") return namesArtifact.has(ast.name) ? ast.args.map((name) => name.normalize("NFC")) : [];
  return ast.kind === "not" ? namesIn(ast.of) : ast.of.flatMap(namesIn);
}

export async function factOf(artifacts: ArtifactStore, session: string, name: string): Promise<ArtifactFact> {
  const text = await artifacts.read(session, name);
  return text === undefined ? { state: "missing", unchecked: 0 } : describe(text);
}

function describe(text: string): ArtifactFact {
  return { state: contentState(text), unchecked: uncheckedBoxes(text) };
}

/** Facts for looking at a state: the artifacts of all its functions, nothing of an event. */
export function lookFacts(
  state: SessionState,
  index: SpecIndex,
  artifacts: ArtifactStore,
  now: number,
): Promise<Omit<OuterFacts, "seq">> {
  return gatherFacts(state, { type: "idle" }, index, artifacts, now);
}
