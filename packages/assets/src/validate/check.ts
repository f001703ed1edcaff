import { type Asset, compareText, type Issue, inScope, refOf } from "../model.ts";
import type { AssetsOptions } from "../options.ts";
import { relationsOf } from "../relations.ts";
import type { View } from "../view.ts";
import { cycleRules, functionRules } from "./function-rules.ts";
import { headerRules } from "./header-rules.ts";
import { nameRules } from "./name-rules.ts";
import { type Checked, issueAt, type Subject, subjectOf } from "./subject.ts";
import { textRules } from "./text-rules.ts";

/** Checks assets under every rule; what they name is looked up in the whole view. */
export async function checkAssets(view: View, assets: readonly Asset[], options: AssetsOptions): Promise<Checked[]> {
  const wanted = new Set(assets.map(({ id }) => id));
  const subjects: Subject[] = [];
  for (const asset of view.assets) {
    view.ctx.signal.throwIfAborted();
    // Functions outside the scope may produce what one inside consumes.
    if (wanted.has(asset.id) || asset.type === "function")
      subjects.push(await subjectOf(view, asset, options.toolClasses));
  }
  const relations = relationsOf(view);
  const functions = subjects.filter(({ asset }) => asset.type === "function" && asset.shadowedBy === undefined);
  const chosen = subjects.filter(({ asset }) => wanted.has(asset.id));
  const found: Checked[] = [];
  for (const subject of chosen) {
    view.ctx.signal.throwIfAborted();
    found.push(...shadowRule(subject));
    if (subject.fault !== undefined) {
      found.push({ subject, issue: faultIssue(subject) });
      continue;
    }
    found.push(
      ...headerRules(subject, subjects),
      ...nameRules(subject, relations),
      ...functionRules(subject, functions),
      ...textRules(subject, view.directory, options.scan),
    );
  }
  found.push(...cycleRules(functions, wanted, relations), ...duplicates(chosen), ...hostRules(chosen, options));
  return found.sort(bySeverity);
}

/** The assets that a scope holds. */
export function scopeOf(view: View, role: string | undefined): Asset[] {
  return view.assets.filter((asset) => role === undefined || inScope(asset, role));
}

function faultIssue(subject: Subject): Issue {
  const outside = /outside the (?:roots|skill)/.test(subject.fault ?? "");
  return issueAt(
    subject,
    outside ? "link_outside" : "not_text",
    "error",
    undefined,
    subject.fault ?? "",
    outside ? "copy the file here; links out are not followed" : "make it a readable text file",
  );
}

function shadowRule(subject: Subject): Checked[] {
  const { shadowedBy } = subject.asset;
  if (shadowedBy === undefined) return [];
  return [
    {
      subject,
      issue: issueAt(
        subject,
        "shadowed",
        "warning",
        undefined,
        `${shadowedBy} stands before it and is used in its place`,
        "rename or remove one of them",
      ),
    },
  ];
}

/** The same name twice in one role and root: one issue that names all files. */
function duplicates(subjects: readonly Subject[]): Checked[] {
  const groups = new Map<string, Subject[]>();
  for (const subject of subjects) {
    const { type, role, root, name } = subject.asset;
    const key = `${type}\0${role ?? ""}\0${root}\0${name}`;
    groups.set(key, [...(groups.get(key) ?? []), subject]);
  }
  return [...groups.values()].flatMap((group): Checked[] => {
    const [first] = group;
    if (!first || group.length < 2) return [];
    const places = group.map(({ asset }) => asset.id.slice(asset.type.length + 1)).sort(compareText);
    const { type, name } = first.asset;
    return [
      {
        subject: first,
        issue: issueAt(
          first,
          "duplicate_name",
          "error",
          undefined,
          `${type} ${name} is there ${group.length} times: ${places.join(", ")}`,
          "rename all but one",
        ),
      },
    ];
  });
}

function hostRules(subjects: readonly Subject[], { rules = [] }: AssetsOptions): Checked[] {
  if (rules.length === 0) return [];
  const byId = new Map(subjects.map((subject) => [subject.asset.id, subject]));
  const view = {
    assets: subjects.map(({ asset }) => asset),
    text: (asset: Asset): string | undefined => {
      const subject = byId.get(asset.id);
      return subject?.fault === undefined ? subject?.text : undefined;
    },
  };
  return rules.flatMap((rule) =>
    rule.check(view).flatMap((issue): Checked[] => {
      const subject = byId.get(issue.asset.id);
      return subject
        ? [{ subject, issue: { ...issue, rule: rule.id, severity: rule.severity, asset: refOf(subject.asset) } }]
        : [];
    }),
  );
}

function bySeverity({ issue: a }: Checked, { issue: b }: Checked): number {
  return (
    Number(a.severity === "warning") - Number(b.severity === "warning") ||
    compareText(a.file, b.file) ||
    (a.line ?? 0) - (b.line ?? 0) ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compareText(a.rule, b.rule)
  );
}
