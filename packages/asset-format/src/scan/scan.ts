import { createHash } from "node:crypto";
import { findSecrets } from "@toolhaft/core";
import { parseFrontmatter } from "../frontmatter.ts";
import { positionsIn } from "../positions.ts";
import { parseToolRules } from "../tool-rules.ts";
import { bidiControls, hiddenCharacters, showHidden } from "./hidden.ts";
import { hiddenComment, imperative, type PhraseRule, phraseRules } from "./phrases.ts";
import { viewsOf } from "./views.ts";

/** One hit of the scan. */
export interface Finding {
  rule: string;
  severity: "block" | "warn";
  /** From 1. */
  line: number;
  column: number;
  /** What stands there, at most 80 code points, with hidden characters made visible. */
  excerpt: string;
}

/** A rule of a host: gives the UTF-16 offsets of its hits. */
export interface ScanRule {
  rule: string;
  severity: "block" | "warn";
  find(text: string): Iterable<{ start: number; end: number }>;
}

export interface ScanOptions {
  /** Findings that a person has looked at: they count as long as the file has exactly these bytes. */
  allow?: readonly { path: string; rule: string; sha256: string }[];
  extra?: readonly ScanRule[];
  /** What a write with a block finding does. @default "refuse" */
  onBlock?: "refuse" | "warn";
}

interface Hit {
  rule: string;
  severity: "block" | "warn";
  start: number;
  end: number;
}

/**
 * Looks for text that gives orders, hides, or asks for more than it should. It lowers risk and is no proof.
 *
 * @param path path of the file, for `options.allow`
 */
export function scanText(text: string, options: ScanOptions = {}, path?: string): readonly Finding[] {
  const hits: Hit[] = [
    ...hiddenCharacters(text).map(({ start, end }): Hit => ({ rule: "invisible", severity: "block", start, end })),
    ...bidiControls(text).map(
      ({ start, end, ordinary }): Hit => ({ rule: "bidi", severity: ordinary ? "warn" : "block", start, end }),
    ),
    ...phraseHits(text),
    ...commentHits(text),
    ...wideGrants(text),
    ...findSecrets(text).map(({ start, end }): Hit => ({ rule: "secret", severity: "warn", start, end })),
  ];
  for (const { rule, severity, find } of options.extra ?? [])
    for (const { start, end } of find(text)) hits.push({ rule, severity, start, end });
  return present(text, withoutAllowed(hits, text, options.allow ?? [], path));
}

function phraseHits(text: string): Hit[] {
  const hits: Hit[] = [];
  for (const view of viewsOf(text)) {
    for (const rule of phraseRules) {
      for (const [start, end] of [...patternHits(view.text, rule), ...togetherHits(view.text, rule)])
        hits.push({ rule: rule.rule, severity: rule.severity, start: view.original(start), end: view.original(end) });
    }
  }
  return hits;
}

function* patternHits(text: string, { patterns }: PhraseRule): Generator<[number, number]> {
  for (const pattern of patterns)
    for (const match of text.matchAll(pattern)) yield [match.index, match.index + match[0].length];
}

function* togetherHits(text: string, { together }: PhraseRule): Generator<[number, number]> {
  if (!together) return;
  let start = 0;
  for (const paragraph of text.split(/(\r?\n[ \t]*\r?\n)/)) {
    const found = together.map((pattern) => [...paragraph.matchAll(pattern)][0]);
    const [first] = found;
    if (first && found.every((match) => match)) yield [start + first.index, start + first.index + first[0].length];
    start += paragraph.length;
  }
}

function commentHits(text: string): Hit[] {
  return [...text.matchAll(hiddenComment)].flatMap((match) => {
    if (!imperative.test(match[1] ?? match[2] ?? "")) return [];
    return [
      { rule: "hidden_comment", severity: "warn" as const, start: match.index, end: match.index + match[0].length },
    ];
  });
}

/** A shell that may run everything. */
function wideGrants(text: string): Hit[] {
  if (!/^\ufeff?---/.test(text)) return [];
  const head = parseFrontmatter(text);
  const { rules } = parseToolRules(head.data["allowed-tools"]);
  const span = head.span(["allowed-tools"]);
  if (!span) return [];
  return rules
    .filter((rule) => rule.class === "shell" && rule.spec === undefined)
    .map(() => ({ rule: "wide_grant", severity: "warn", ...span }));
}

function withoutAllowed(
  hits: Hit[],
  text: string,
  allow: NonNullable<ScanOptions["allow"]>,
  path: string | undefined,
): Hit[] {
  if (path === undefined || allow.length === 0) return hits;
  const sha256 = createHash("sha256").update(text).digest("hex");
  return hits.filter(
    ({ rule }) => !allow.some((one) => one.path === path && one.rule === rule && one.sha256.toLowerCase() === sha256),
  );
}

const excerptChars = 80;

function present(text: string, hits: readonly Hit[]): Finding[] {
  const positionOf = positionsIn(text);
  const seen = new Set<string>();
  const findings: (Finding & { start: number })[] = [];
  for (const { rule, severity, start, end } of hits) {
    const { line, column } = positionOf(start);
    // One finding a rule and line: views and patterns overlap.
    const key = `${rule} ${line}`;
    if (seen.has(key)) continue;
    seen.add(key);
    findings.push({ rule, severity, line, column, excerpt: excerptOf(text, start, end), start });
  }
  findings.sort((a, b) => a.start - b.start || (a.rule < b.rule ? -1 : 1));
  return findings.map(({ start: _, ...finding }) => finding);
}

function excerptOf(text: string, start: number, end: number): string {
  const shown = [...showHidden(text.slice(start, Math.max(end, start + 1))).replace(/\s+/g, " ")];
  return shown.length > excerptChars ? `${shown.slice(0, excerptChars - 1).join("")}…` : shown.join("");
}
