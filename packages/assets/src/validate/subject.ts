import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { FrontmatterDocument, Problem, ToolClasses } from "@toolhaft/asset-format";
import { fragmentOf, type ParsedAsset, parseAsset } from "../details.ts";
import { type Asset, type Issue, refOf } from "../model.ts";
import { textOf } from "../skill-text.ts";
import type { View } from "../view.ts";

/** A change of some characters of a file, in UTF-16 offsets of its whole text. */
export interface TextEdit {
  start: number;
  end: number;
  text: string;
}

/** An issue, and how it could be repaired. */
export interface Checked {
  issue: Issue;
  subject: Subject;
  /** What the repair does, in words, and its edits. */
  repair?: { description: string; edits: readonly TextEdit[] };
  /** Why an issue of a kind that can be repaired cannot be here. */
  undecided?: string;
}

/** An asset with its text, taken apart once for all rules. */
export interface Subject {
  asset: Asset;
  /** Absolute real path of the defining file. */
  real: string;
  /** Its real folder. */
  folder: string;
  text: string;
  parsed: ParsedAsset;
  /** Where the entry stands in the document; empty for the file itself. */
  base: readonly (string | number)[];
  /** Whether the file is one on this disk, so that files beside it can be looked at. */
  onDisk: boolean;
  /** Why there is no text. */
  fault?: string;
}

export async function subjectOf(view: View, asset: Asset, classes: ToolClasses | undefined): Promise<Subject> {
  const real = view.realPath(asset);
  const place = { asset, real, folder: dirname(real), onDisk: existsSync(real) };
  let text: string;
  try {
    const file = await view.read(asset);
    const fault = file.bytes.includes(0) ? "it is binary" : file.encoding === "utf-8" ? undefined : "it is not UTF-8";
    if (fault !== undefined) return { ...place, text: "", parsed: parseAsset(asset, "", classes), base: [], fault };
    text = textOf(file);
  } catch (error) {
    if (view.ctx.signal.aborted) throw error;
    const fault = error instanceof Error ? error.message : String(error);
    return { ...place, text: "", parsed: parseAsset(asset, "", classes), base: [], fault };
  }
  const parsed = parseAsset(asset, text, classes);
  const fragment = fragmentOf(asset);
  return {
    ...place,
    text,
    parsed,
    base: fragment === undefined || !parsed.document ? [] : entryPath(parsed.document, asset, fragment),
  };
}

/** Where an inline entry stands in `role.yaml`. */
function entryPath(document: FrontmatterDocument, asset: Asset, fragment: string): (string | number)[] {
  const parts = fragment.split("/");
  const own = asset.type === "role" ? parts : parts.slice(0, -1);
  const path: (string | number)[] = [];
  for (const part of own) path.push(...stepTo(document, [...path, "subagents"], part).slice(path.length));
  if (asset.type === "function") return stepTo(document, [...path, "functions"], asset.name);
  if (asset.type === "reference") return stepTo(document, [...path, "references"], asset.name);
  return path;
}

function stepTo(document: FrontmatterDocument, path: readonly (string | number)[], name: string): (string | number)[] {
  const value = valueAt(document, path);
  if (!Array.isArray(value)) return [...path, name];
  const index = value.findIndex(
    (one) =>
      typeof one === "object" && one !== null && (Reflect.get(one, "name") === name || Reflect.get(one, "id") === name),
  );
  return index < 0 ? [...path] : [...path, index];
}

export function valueAt(document: FrontmatterDocument, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined),
    document.data,
  );
}

/** An issue at a place of the subject's file. */
export function issueAt(
  subject: Subject,
  rule: string,
  severity: Issue["severity"],
  place: { line: number; column: number } | undefined,
  message: string,
  hint: string,
): Issue {
  return { rule, severity, asset: refOf(subject.asset), file: subject.asset.path, ...place, message, hint };
}

/** Parser problems that are about this asset and not about an entry inside it, which is an asset of its own. */
export function ownProblems(subject: Subject, all: readonly Subject[]): Problem[] {
  const { asset, base, parsed } = subject;
  if (parsed.type === "reference") return [];
  const deeper = all.filter(
    (other) => other.asset.path === asset.path && other.base.length > base.length && startsWith(other.base, base),
  );
  const problems =
    base.length === 0 && !parsed.document
      ? parsed.problems
      : parsed.problems.filter(({ path }) => startsWith(path ?? [], base));
  return problems.filter(({ path = [] }) => !deeper.some((other) => startsWith(path, other.base)));
}

function startsWith(path: readonly (string | number)[], base: readonly (string | number)[]): boolean {
  return base.every((part, index) => path[index] === part);
}
