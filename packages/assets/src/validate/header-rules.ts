import {
  type Problem,
  parseFrontmatter,
  relateRules,
  scalarText,
  skillKeys,
  skillNameFault,
  type ToolRule,
} from "@toolhaft/asset-format";
import { nearest } from "@toolhaft/core";
import { folderOf } from "../details.ts";
import { problemIssue } from "./problems.ts";
import { type Checked, issueAt, ownProblems, type Subject, type TextEdit } from "./subject.ts";

/** What the parser found, with the repairs of the header. */
export function headerRules(subject: Subject, all: readonly Subject[]): Checked[] {
  const checked = ownProblems(subject, all).map((problem): Checked => {
    const issue = problemIssue(subject.asset, problem);
    const repair = repairOf(subject, problem);
    if (typeof repair === "string") return { issue, subject, undecided: repair };
    return { issue, subject, ...(repair && { repair }) };
  });
  return [...checked, ...contradictions(subject)];
}

function repairOf(subject: Subject, problem: Problem): Checked["repair"] | string | undefined {
  switch (problem.rule) {
    case "yaml_invalid":
      return quoteRepair(subject);
    case "name_format":
    case "name_folder_mismatch":
      return nameRepair(subject);
    case "metadata_not_text":
      return metadataRepair(subject, problem);
    case "unknown_key":
      return keyRepair(subject, problem);
    case "unknown_condition":
      return conditionRepair(subject, problem);
    default:
      return undefined;
  }
}

const quotable = /^([A-Za-z][\w-]*:[ \t]+)(?!["'|>&*![{]|$)(.*?\S)([ \t]*\r?)$/;
const special = /^([A-Za-z][\w-]*:[ \t]+)([@`%*&!].*?\S)([ \t]*\r?)$/;

/** Puts values in quotes whose unquoted `: ` or first sign is the only fault; nothing when that does not help. */
function quoteRepair(subject: Subject): Checked["repair"] | undefined {
  if (subject.asset.type !== "skill" && subject.asset.type !== "function") return undefined;
  let { text } = subject;
  const edits: TextEdit[] = [];
  for (let attempt = 0; attempt < 10; attempt++) {
    const head = parseFrontmatter(text);
    const fault = head.problems[0];
    if (!fault) break;
    if (fault.rule !== "yaml_invalid" || fault.line === undefined) return undefined;
    const start = lineStart(text, fault.line);
    const end = text.indexOf("\n", start);
    const line = text.slice(start, end < 0 ? text.length : end);
    const match =
      special.exec(line) ?? (/:(?:\s|$)/.test(line.slice(line.indexOf(":") + 1)) ? quotable.exec(line) : null);
    const [, key = "", value] = match ?? [];
    if (value === undefined) return undefined;
    const quoted = quote(value);
    const at = start + key.length;
    text = text.slice(0, at) + quoted + text.slice(at + value.length);
    const shift = edits
      .filter((edit) => edit.start < at)
      .reduce((sum, edit) => sum + edit.text.length - (edit.end - edit.start), 0);
    edits.push({ start: at - shift, end: at - shift + value.length, text: quoted });
  }
  if (edits.length === 0 || parseFrontmatter(text).problems.length > 0) return undefined;
  return { description: "put the value in quotes", edits };
}

/** Double quotes are YAML's with escapes; a backslash or a quote in the text asks for single ones. */
function quote(value: string): string {
  return /["\\]/.test(value) ? `'${value.replaceAll("'", "''")}'` : `"${value}"`;
}

function lineStart(text: string, line: number): number {
  let at = 0;
  for (let n = 1; n < line; n++) at = text.indexOf("\n", at) + 1;
  return at;
}

function nameRepair({ asset, parsed }: Subject): Checked["repair"] | undefined {
  if (asset.type !== "skill" || !parsed.document) return undefined;
  const folder = folderOf(asset);
  if (skillNameFault(folder) !== undefined) return undefined;
  const span = parsed.document.span(["name"]);
  if (span && span.end > span.start) return { description: `name: ${folder}`, edits: [{ ...span, text: folder }] };
  const key = parsed.document.keySpan(["name"]);
  if (key) {
    const colon = parsed.document.text.indexOf(":", key.end) + 1;
    return { description: `name: ${folder}`, edits: [{ start: colon, end: colon, text: ` ${folder}` }] };
  }
  const { start } = parsed.document.yaml;
  const end = parsed.document.text.slice(0, start).endsWith("\r\n") ? "\r\n" : "\n";
  return { description: `name: ${folder}`, edits: [{ start, end: start, text: `name: ${folder}${end}` }] };
}

function metadataRepair({ parsed }: Subject, { path = [] }: Problem): Checked["repair"] | undefined {
  const span = parsed.document?.span(path);
  const text = path.length === 2 ? scalarText(parsed.document?.document, path) : undefined;
  if (!span || text === undefined) return undefined;
  return { description: `${path.join(".")}: "${text}"`, edits: [{ ...span, text: `"${text}"` }] };
}

function keyRepair({ asset, parsed }: Subject, { path = [] }: Problem): Checked["repair"] | string | undefined {
  if (asset.type !== "skill" || path.length !== 1 || !parsed.document) return undefined;
  const key = String(path[0]);
  const near = nearest(key, skillKeys, 3).filter((other) => plain(other) === plain(key) || isNear(other, key));
  const span = parsed.document.keySpan(path);
  const [only] = near;
  if (only === undefined || !span) return undefined;
  if (near.length > 1) return `"${key}" may be ${near.join(" or ")}`;
  if (only in parsed.document.data) return `"${key}" looks like ${only}, which is there already`;
  return { description: `${key} → ${only}`, edits: [{ ...span, text: only }] };
}

function plain(key: string): string {
  return key.toLowerCase().replace(/[_-]/g, "");
}

/** At most two letters apart and of about the same length: a slip, not another word. */
function isNear(a: string, b: string): boolean {
  return Math.abs(a.length - b.length) <= 2 && a.length >= 4;
}

function conditionRepair({ parsed, text }: Subject, problem: Problem): Checked["repair"] | string | undefined {
  const near = /^did you mean (.+)\?$/.exec(problem.hint)?.[1]?.split(" or ") ?? [];
  const [only] = near;
  const name = /unknown condition "([^"]+)"/.exec(problem.message)?.[1];
  const span = parsed.document?.span(problem.path ?? []);
  if (only === undefined || name === undefined || !span) return undefined;
  if (near.length > 1) return `"${name}" may be ${near.join(" or ")}`;
  const at = text.slice(span.start, span.end).indexOf(name);
  if (at < 0) return undefined;
  const start = span.start + at;
  return { description: `${name} → ${only}`, edits: [{ start, end: start + name.length, text: only }] };
}

/** A denial that covers an allowance makes it dead; a narrower one is fine. */
function contradictions(subject: Subject): Checked[] {
  const { parsed } = subject;
  if (parsed.type === "skill" && parsed.value) {
    const { allowedTools = [], disallowedTools = [] } = parsed.value;
    return contradict(subject, allowedTools, disallowedTools, ["allowed-tools"]);
  }
  if (parsed.type === "role" && parsed.value) {
    const { allow, deny } = parsed.value.permission;
    return contradict(subject, allow, deny, [...subject.base, "permission", "allow"]);
  }
  return [];
}

function contradict(
  subject: Subject,
  allowed: readonly ToolRule[],
  denied: readonly ToolRule[],
  path: readonly (string | number)[],
): Checked[] {
  return allowed.flatMap((rule): Checked[] => {
    const by = denied.find((denial) => {
      const { relation } = relateRules(denial, rule);
      return relation === "covers" || relation === "equal";
    });
    if (!by) return [];
    const place = subject.parsed.document?.locate(path);
    const issue = issueAt(
      subject,
      "permission_contradiction",
      "error",
      place,
      `the denial ${by.text} covers the allowance ${rule.text}, which is dead`,
      "remove one of them, or make the denial narrower",
    );
    return [{ issue, subject }];
  });
}
