import { placeholder } from "@toolhaft/asset-format";
import { compareText, isBelow } from "../model.ts";
import type { Relations } from "../relations.ts";
import { type Checked, issueAt, type Subject } from "./subject.ts";

/** What one function promises and nobody keeps. */
export function functionRules(subject: Subject, functions: readonly Subject[]): Checked[] {
  const { parsed, asset } = subject;
  if (parsed.type !== "function" || !parsed.value) return [];
  const spec = parsed.value;
  const found: Checked[] = [];
  const warn = (rule: string, path: readonly (string | number)[], message: string, hint: string): void => {
    const place = parsed.document?.locate([...subject.base, ...path]);
    found.push({ issue: issueAt(subject, rule, "warning", place, message, hint), subject });
  };
  for (const name of spec.consumes) {
    const made = functions.some((other) => isRelated(asset.role, other.asset.role) && producesOf(other).includes(name));
    if (!made)
      warn(
        "unproduced_artifact",
        ["consumes"],
        `consumes the artifact "${name}", which no function produces`,
        "let a function produce it, or take the name out",
      );
  }
  const set = new Set(spec.observe.flatMap(({ setEvidence }) => (setEvidence === undefined ? [] : [setEvidence])));
  for (const label of spec.requiresEvidence) {
    if (!set.has(label))
      warn(
        "evidence_never_set",
        ["requires_evidence"],
        `requires the evidence "${label}", which no observe entry sets`,
        `add an observe entry with set_evidence: ${label}`,
      );
  }
  const declared = new Set(spec.params.map(({ name }) => name));
  const used = new Set([...spec.body.matchAll(placeholder)].map(([, name = ""]) => name));
  for (const name of used) {
    if (!declared.has(name))
      warn("undeclared_param", ["params"], `the text uses {{${name}}}, which is no param`, `add ${name} to params`);
  }
  return found;
}

function producesOf({ parsed }: Subject): string[] {
  if (parsed.type !== "function" || !parsed.value) return [];
  const { produces, observe } = parsed.value;
  return [
    ...produces,
    ...observe.flatMap(({ captureArtifact, capturePayloadAs }) => [captureArtifact, capturePayloadAs]),
  ].filter((name) => name !== undefined);
}

/** Roles that work in one session: one of them is the other or above it, or none. */
function isRelated(a: string | null, b: string | null): boolean {
  return a === null || b === null || isBelow(a, b) || isBelow(b, a);
}

/** Functions that require each other in a circle: one issue for each circle, told at its first member in scope. */
export function cycleRules(functions: readonly Subject[], scope: ReadonlySet<string>, relations: Relations): Checked[] {
  const byId = new Map(functions.map((subject) => [subject.asset.id, subject]));
  const edges = new Map(
    functions.map((subject) => {
      const { parsed, asset } = subject;
      const names = parsed.type === "function" && parsed.value ? parsed.value.requires : [];
      const ids = names.flatMap((name) => relations.meaning("function", name, asset.role)?.id ?? []);
      return [asset.id, ids.filter((id) => byId.has(id))];
    }),
  );
  return components([...edges.keys()].sort(compareText), edges).flatMap((members): Checked[] => {
    const [first] = members;
    if (first === undefined || (members.length === 1 && !edges.get(first)?.includes(first))) return [];
    const told = members
      .map((id) => byId.get(id))
      .filter((subject) => subject !== undefined && scope.has(subject.asset.id));
    const [subject] = told;
    if (!subject) return [];
    const names = members.map((id) => byId.get(id)?.asset.name ?? id).sort(compareText);
    const place = subject.parsed.document?.locate([...subject.base, "requires"]);
    const message =
      names.length === 1 ? `${names[0]} requires itself` : `${names.join(", ")} require each other in a circle`;
    return [
      { issue: issueAt(subject, "requires_cycle", "error", place, message, "take one of the requires out"), subject },
    ];
  });
}

/** Strongly connected components. @see Tarjan, Depth-first search and linear graph algorithms, 1972 */
function components(nodes: readonly string[], edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const open = new Set<string>();
  const found: string[][] = [];
  for (const start of nodes) {
    if (order.has(start)) continue;
    // A stack of its own: a chain of thousands must not exhaust the call stack.
    const work: { node: string; next: number }[] = [{ node: start, next: 0 }];
    for (let top = work.at(-1); top; top = work.at(-1)) {
      const { node } = top;
      if (top.next === 0) {
        order.set(node, order.size);
        low.set(node, order.get(node) ?? 0);
        stack.push(node);
        open.add(node);
      }
      const target = edges.get(node)?.[top.next++];
      if (target !== undefined) {
        if (!order.has(target)) work.push({ node: target, next: 0 });
        else if (open.has(target)) low.set(node, Math.min(low.get(node) ?? 0, order.get(target) ?? 0));
        continue;
      }
      work.pop();
      const parent = work.at(-1);
      if (parent) low.set(parent.node, Math.min(low.get(parent.node) ?? 0, low.get(node) ?? 0));
      if (low.get(node) !== order.get(node)) continue;
      const members = stack.splice(stack.lastIndexOf(node));
      for (const member of members) open.delete(member);
      found.push(members);
    }
  }
  return found;
}
