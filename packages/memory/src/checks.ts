import { findSecrets, maskSecrets, ToolError } from "@toolhaft/core";
import type { Limits } from "./limits.ts";
import type { Warning } from "./model.ts";
import type { SecretMode } from "./options.ts";

export const lineBreak = /[\n\r\u0085\u2028\u2029\v\f]/;
const idForms = {
  memory: /^mem_[0-9A-HJKMNP-TV-Z]{26}$/,
  graph: /^(ent|rel)_[0-9A-HJKMNP-TV-Z]{26}$/,
} as const;

/** Code points. */
export function lengthOf(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

export function invalid(message: string, hint: string): ToolError {
  return new ToolError("invalid_input", message, { hint });
}

export function checkWellFormed(field: string, text: string): void {
  if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(text)) {
    throw invalid(`${field} holds half of a surrogate pair`, "send well-formed Unicode");
  }
  if (text.includes("\0")) throw invalid(`${field} holds a NUL character`, "leave it out");
}

/** Trims outer white space, as titles and tags lose it, and refuses what one line cannot hold. */
export function checkLine(field: string, text: string, most: number): string {
  checkWellFormed(field, text);
  const trimmed = text.trim();
  if (trimmed === "") throw invalid(`${field} is empty`, `give ${field} 1 to ${most} characters`);
  if (lineBreak.test(trimmed)) throw invalid(`${field} holds a line break`, "put it on one line");
  const length = lengthOf(trimmed);
  if (length > most) throw invalid(`${field} has ${length} characters`, `at most ${most} are allowed`);
  return trimmed;
}

/** Subjects keep their white space inside and out; only what cannot be one is refused. */
export function checkNames(field: string, names: readonly string[], most: number, length: number): string[] {
  const kept = new Map<string, string>();
  for (const name of names) {
    const line = checkLine(field, name, length);
    const key = line.normalize("NFKC").toLowerCase();
    if (!kept.has(key)) kept.set(key, line);
  }
  if (kept.size > most) throw invalid(`${field} has ${kept.size} entries`, `at most ${most} are allowed`);
  return [...kept.values()];
}

export function checkContent(text: string, limits: Limits): void {
  checkWellFormed("content", text);
  if (text.trim() === "") throw invalid("content is empty", "give what is to be kept");
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.content) {
    throw new ToolError("too_large", `content has ${bytes} bytes, at most ${limits.content} are kept`, {
      hint: "split it into several memories, or keep the text in a file and its path in the memory",
    });
  }
}

export function checkId(field: string, id: string, kind: keyof typeof idForms): void {
  if (idForms[kind].test(id)) return;
  throw invalid(
    `${field} is not an id of this family`,
    kind === "memory"
      ? "ids look like mem_ and 26 letters and digits, as recall and list print them"
      : "ids look like ent_ or rel_ and 26 letters and digits",
  );
}

export interface Screened {
  /** By field, with secrets masked where the mode says so. */
  texts: Readonly<Record<string, string>>;
  warnings: Warning[];
}

/** Looks for secrets in the given fields before anything is stored. */
export function screen(fields: Readonly<Record<string, string | undefined>>, mode: SecretMode): Screened {
  const texts: Record<string, string> = {};
  const warnings: Warning[] = [];
  for (const [field, text] of Object.entries(fields)) {
    if (text === undefined) continue;
    texts[field] = text;
    if (mode === "off") continue;
    const found = findSecrets(text);
    if (found.length > 0 && mode === "refuse") throw holdsSecret(field, found[0]?.kind);
    if (mode === "mask") texts[field] = maskSecrets(text);
    for (const { kind, start, end } of found) {
      warnings.push({ code: "secret", kind, field, start, end, message: warningText(field, kind, mode) });
    }
  }
  return { texts, warnings };
}

/**
 * The same for a value stored as JSON, whose strings are also looked at as they are: escapes hide what quotes or breaks
 * lines inside of them.
 *
 * @throws ToolError `denied` when a secret is to be masked and the rest would be no JSON
 */
export function screenJson(field: string, json: string, mode: SecretMode): { json: string; warnings: Warning[] } {
  const { texts, warnings } = screen({ [field]: json }, mode);
  if (mode === "off") return { json, warnings };
  const masked = mode === "mask" ? (texts[field] ?? json) : maskSecrets(json);
  const value = parsed(masked);
  if (value === undefined && mode !== "mask") return { json, warnings };
  if (value === undefined) {
    throw new ToolError("denied", `${field} holds what looks like a secret, and it cannot be masked there`, {
      hint: `leave the secret out of ${field}`,
      details: { by: "policy" },
    });
  }
  const kinds: string[] = [];
  const clean = maskStrings(value, kinds);
  if (kinds.length > 0 && mode === "refuse") throw holdsSecret(field, kinds[0]);
  for (const kind of kinds) warnings.push({ code: "secret", kind, field, message: warningText(field, kind, mode) });
  return { json: mode !== "mask" ? json : kinds.length > 0 ? JSON.stringify(clean) : masked, warnings };
}

/** What a reply to a writing call shows of a stored value: its secrets are not repeated. */
export function withoutSecrets<T extends object>(value: T): T {
  const clean = parsed(maskSecrets(JSON.stringify(value)));
  return maskStrings(clean ?? value, []) as T;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

function maskStrings(value: unknown, kinds: string[]): unknown {
  if (typeof value === "string") {
    kinds.push(...findSecrets(value).map(({ kind }) => kind));
    return maskSecrets(value);
  }
  if (Array.isArray(value)) return value.map((inner) => maskStrings(inner, kinds));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskStrings(inner, kinds)]));
}

function holdsSecret(field: string, kind: string | undefined): ToolError {
  return new ToolError("denied", `${field} holds what looks like a secret (${kind}); nothing was stored`, {
    hint: "keep secrets in a secret store and only their name in memory",
    details: { by: "policy" },
  });
}

function warningText(field: string, kind: string, mode: SecretMode): string {
  return mode === "mask"
    ? `${field} held what looks like a secret (${kind}); it was replaced`
    : `${field} holds what looks like a secret (${kind})`;
}
