import type { FileChange, ToolContext } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import {
  compareLines,
  parseText,
  spliceLines,
  type TextFile,
  type TextModel,
  unifiedDiff,
  type Workspace,
} from "@toolhaft/workspace";
import type { Asset } from "../model.ts";
import type { AssetsOptions } from "../options.ts";
import type { View } from "../view.ts";
import type { Checked, TextEdit } from "./subject.ts";

/** All repairs of one file. */
interface FilePlan {
  real: string;
  shown: string;
  asset: Asset;
  /** The file as it was checked. */
  version: string;
  bytes: Uint8Array;
  after: Uint8Array;
  done: Checked[];
}

export interface FixOutcome {
  fixed: { rule: string; file: string; diff: string }[];
  notFixed: { rule: string; file: string; reason: string }[];
  fileChanges: readonly FileChange[];
}

/** The diff of one repair by itself; undefined when there is none. */
export async function withFixes(checked: readonly Checked[], view: View, options: AssetsOptions): Promise<Checked[]> {
  const files = new Map<string, TextFile>();
  const shown: Checked[] = [];
  for (const one of checked) {
    const edits = await editsOf(one, view, options, files);
    const file = edits && files.get(one.subject.real);
    if (!edits || !file) {
      shown.push(one);
      continue;
    }
    const diff = diffOf(file, applied(file, edits), one.issue.file);
    shown.push({
      ...one,
      issue: { ...one.issue, fix: { description: one.repair?.description ?? "repair", diff } },
      repair: { description: one.repair?.description ?? "repair", edits },
    });
  }
  return shown;
}

async function editsOf(
  one: Checked,
  view: View,
  options: AssetsOptions,
  files: Map<string, TextFile>,
): Promise<readonly TextEdit[] | undefined> {
  const { subject, issue } = one;
  const rule = options.rules?.find(({ id }) => id === issue.rule);
  if (!one.repair && !rule?.fix) return undefined;
  const file = files.get(subject.real) ?? (await view.read(subject.asset));
  files.set(subject.real, file);
  if (one.repair) return one.repair.edits;
  const splices = rule?.fix?.(issue, file);
  if (!splices) return undefined;
  const whole = Buffer.from(file.bytes).toString("utf8");
  return [{ start: 0, end: whole.length, text: Buffer.from(spliceLines(file, splices).bytes).toString("utf8") }];
}

function applied(file: TextFile, edits: readonly TextEdit[]): Uint8Array {
  let text = Buffer.from(file.bytes).toString("utf8");
  for (const { start, end, text: inserted } of [...edits].sort((a, b) => b.start - a.start))
    text = text.slice(0, start) + inserted + text.slice(end);
  return Buffer.from(text, "utf8");
}

function diffOf(before: TextModel, bytes: Uint8Array, name: string): string {
  const after = parseText(bytes);
  return unifiedDiff(before, after, compareLines(before, after).changes, { before: name, after: name }).text;
}

/**
 * Applies every repair in one commit; files that changed since they were checked make it a conflict.
 *
 * @throws ToolError `denied` when the gate refuses, `conflict`
 */
export async function applyFixes(
  checked: readonly Checked[],
  view: View,
  workspace: Workspace,
  isWritable: (asset: Asset) => boolean,
  ctx: ToolContext,
): Promise<FixOutcome> {
  const notFixed: FixOutcome["notFixed"] = [];
  const refuse = ({ issue }: Checked, reason: string): void => {
    notFixed.push({ rule: issue.rule, file: issue.file, reason });
  };
  for (const one of checked) if (one.undecided !== undefined) refuse(one, one.undecided);
  const plans: FilePlan[] = [];
  for (const [real, group] of byFile(checked)) {
    const [first] = group;
    if (!first) continue;
    if (!isWritable(first.subject.asset)) {
      for (const one of group) refuse(one, `${first.issue.file} lies in a read-only root`);
      continue;
    }
    plans.push(await planOf(real, group, view, refuse));
  }
  const real = plans.filter(({ done }) => done.length > 0);
  if (real.length === 0) return { fixed: [], notFixed, fileChanges: [] };
  const files = real.map((plan) => plan.real);
  await ctx.ask({
    permission: "asset.fix",
    resources: files,
    reason: `repair ${real.map(({ shown }) => shown).join(", ")}`,
    details: { files: real.map(({ shown }) => shown) },
  });
  const scope = { directory: view.directory, sessionId: ctx.sessionId, signal: ctx.signal, ask: ctx.ask };
  const committed = await workspace.edit(
    files,
    (present) => ({
      changes: real.map((plan) => {
        const now = present.get(plan.real);
        if (now?.version !== plan.version)
          throw new ToolError("conflict", `${plan.shown} changed while it was checked`, { hint: "call again" });
        const after = parseText(plan.after);
        return { kind: "replace", path: plan.real, bytes: plan.after, lineChanges: compareLines(now, after).changes };
      }),
      result: undefined,
    }),
    scope,
  );
  const fixed = real.flatMap((plan) =>
    plan.done.map(({ issue }) => ({ rule: issue.rule, file: issue.file, diff: issue.fix?.diff ?? "" })),
  );
  return { fixed, notFixed, fileChanges: committed.changes };
}

function byFile(checked: readonly Checked[]): Map<string, Checked[]> {
  const groups = new Map<string, Checked[]>();
  for (const one of checked) {
    if (!one.repair || one.undecided !== undefined) continue;
    groups.set(one.subject.real, [...(groups.get(one.subject.real) ?? []), one]);
  }
  return groups;
}

async function planOf(
  real: string,
  group: readonly Checked[],
  view: View,
  refuse: (one: Checked, reason: string) => void,
): Promise<FilePlan> {
  const [first] = group;
  const asset = first?.subject.asset;
  if (!first || !asset) throw new ToolError("internal", "a repair without a file");
  const file = await view.read(asset);
  const edits: TextEdit[] = [];
  const done: Checked[] = [];
  for (const one of group) {
    const wanted = (one.repair?.edits ?? []).filter((edit) => !edits.some((known) => isSame(known, edit)));
    if (wanted.some((edit) => edits.some((known) => meets(known, edit)))) {
      refuse(one, "another repair changes the same place; call again");
      continue;
    }
    edits.push(...wanted);
    done.push(one);
  }
  return {
    real,
    shown: first.issue.file,
    asset,
    version: file.version,
    bytes: file.bytes,
    after: applied(file, edits),
    done,
  };
}

function isSame(a: TextEdit, b: TextEdit): boolean {
  return a.start === b.start && a.end === b.end && a.text === b.text;
}

function meets(a: TextEdit, b: TextEdit): boolean {
  return a.start < b.end && b.start < a.end ? true : a.start === b.start;
}
