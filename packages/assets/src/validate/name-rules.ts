import type { FrontmatterDocument } from "@toolhaft/asset-format";
import { nearest } from "@toolhaft/core";
import type { AssetType } from "../model.ts";
import type { Relations } from "../relations.ts";
import { type Checked, issueAt, type Subject } from "./subject.ts";

interface Named {
  type: AssetType;
  names: readonly string[];
  path: readonly (string | number)[];
  /** How the message says it. */
  verb: string;
}

/** Names that mean nothing from where they stand. */
export function nameRules(subject: Subject, relations: Relations): Checked[] {
  const { asset, parsed } = subject;
  const role = asset.type === "role" ? asset.name : asset.role;
  return namedBy(subject).flatMap(({ type, names, path, verb }) =>
    names.flatMap((name): Checked[] => {
      if (relations.meaning(type, name, role)) return [];
      const others = relations.names(type, role).filter((other) => other !== asset.name || type !== asset.type);
      const near = nearest(name, others, 3);
      const site = parsed.document && siteOf(parsed.document, [...subject.base, ...path], name);
      const hint =
        near.length > 0 ? `did you mean "${near.join('" or "')}"?` : `write a ${type} ${name}, or take the name out`;
      const place = site && parsed.document?.positionOf(site.start);
      const said = near.length === 1 ? `; did you mean "${near[0]}"?` : "";
      const issue = issueAt(subject, "unknown_name", "error", place, `${verb} unknown ${type} "${name}"${said}`, hint);
      const [only] = near;
      if (near.length > 1) return [{ issue, subject, undecided: `"${name}" may be ${near.join(" or ")}` }];
      if (only === undefined || !site) return [{ issue, subject }];
      return [{ issue, subject, repair: { description: `${name} → ${only}`, edits: [{ ...site, text: only }] } }];
    }),
  );
}

function namedBy({ parsed }: Subject): Named[] {
  if (parsed.type === "function" && parsed.value) {
    const { requires, transitions } = parsed.value;
    return [
      { type: "function", names: requires, path: ["requires"], verb: "requires" },
      ...transitions.flatMap(({ activate, deactivate }, index): Named[] => [
        { type: "function", names: activate, path: ["transitions", index, "activate"], verb: "activates" },
        { type: "function", names: deactivate, path: ["transitions", index, "deactivate"], verb: "deactivates" },
      ]),
    ];
  }
  if (parsed.type === "role" && parsed.value) {
    const { skills, functions, disableFunctions, autoActivate } = parsed.value;
    return [
      { type: "skill", names: skills, path: ["skills"], verb: "lists" },
      { type: "function", names: functions, path: ["functions"], verb: "lists" },
      { type: "function", names: disableFunctions, path: ["disable_functions"], verb: "disables" },
      { type: "function", names: autoActivate, path: ["auto_activate"], verb: "activates" },
    ];
  }
  return [];
}

/** Where a name stands in the value at a path, as a word of its own. */
function siteOf(
  document: FrontmatterDocument,
  path: readonly (string | number)[],
  name: string,
): { start: number; end: number } | undefined {
  const span = document.span(path);
  if (!span) return undefined;
  const source = document.text.slice(span.start, span.end);
  for (let at = source.indexOf(name); at >= 0; at = source.indexOf(name, at + 1)) {
    const before = source[at - 1] ?? " ";
    const after = source[at + name.length] ?? " ";
    if (/[\w/-]/.test(before) && before !== "-") continue;
    if (/[\w/-]/.test(after)) continue;
    if (before === "-" && /[\w/]/.test(source[at - 2] ?? " ")) continue;
    return { start: span.start + at, end: span.start + at + name.length };
  }
  return undefined;
}
