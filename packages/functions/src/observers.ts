import type { FunctionObserver } from "@toolhaft/asset-format";
import { type Draft, edit, isOpen } from "./draft.ts";
import { judge } from "./evaluate.ts";
import type { FunctionEvent } from "./events.ts";
import { byPriority } from "./specs/specs.ts";

/** An artifact to write: the text of the event, or its payload as JSON. */
export interface Capture {
  name: string;
  as: "text" | "payload";
}

const listensTo: Readonly<Partial<Record<FunctionEvent["type"], FunctionObserver["on"]>>> = {
  activate: "activate",
  message: "message",
  tool: "tool_after",
  signal: "signal",
};

/** Runs what the functions of a session observe, of every one that is not complete. */
export function runObservers(draft: Draft, event: FunctionEvent): void {
  const on = listensTo[event.type];
  if (on === undefined) return;
  const open = Object.values(draft.functions).filter(isOpen);
  const observing = open.flatMap(({ id }) => draft.index.get(id) ?? []).sort(byPriority);
  for (const spec of observing) {
    // Its own activation, not that of others.
    if (on === "activate" && !draft.fresh.has(spec.id)) continue;
    for (const observer of spec.observe) if (observer.on === on) run(draft, event, spec.id, observer);
  }
}

function run(draft: Draft, event: FunctionEvent, id: string, observer: FunctionObserver): void {
  const record = draft.functions[id];
  const spec = draft.index.get(id);
  if (!record || !spec || !applies(draft, event, observer)) return;
  const scene = { record, spec, state: draft, artifacts: draft.artifacts, registry: draft.registry };
  if (observer.when && !judge(observer.when, scene).value) return;
  const { setEvidence, captureArtifact, capturePayloadAs, inject } = observer;
  if (setEvidence !== undefined && !record.evidence.includes(setEvidence)) {
    edit(draft, id, { evidence: [...record.evidence, setEvidence] });
    draft.log.push({ kind: "evidence", function: id, label: setEvidence, set: true });
  }
  if (captureArtifact !== undefined && draft.facts.text !== null) {
    capture(draft, id, { name: captureArtifact, as: "text" });
    draft.artifacts[captureArtifact.normalize("NFC")] = draft.facts.text;
  }
  if (capturePayloadAs !== undefined && event.type === "signal") {
    capture(draft, id, { name: capturePayloadAs, as: "payload" });
    draft.artifacts[capturePayloadAs.normalize("NFC")] = { state: "present", unchecked: 0 };
  }
  if (inject !== undefined) draft.log.push({ kind: "inject", function: id, text: inject });
}

function capture(draft: Draft, id: string, { name, as }: Capture): void {
  draft.captures.push({ name, as });
  draft.log.push({ kind: "captured", function: id, artifact: name, as });
}

function applies(draft: Draft, event: FunctionEvent, { tool, whenOutput }: FunctionObserver): boolean {
  if (event.type === "tool" && tool !== undefined && tool !== event.name) return false;
  if (whenOutput === undefined) return true;
  const { contains, notContains } = whenOutput;
  if (contains !== undefined && !draft.facts.needles.includes(contains)) return false;
  return notContains === undefined || !draft.facts.needles.includes(notContains);
}
