import { createHash } from "node:crypto";
import { basename, dirname } from "node:path";
import {
  type FunctionSpec,
  type Parsed,
  parseFrontmatter,
  parseFunction,
  parseRole,
  parseSkill,
  type RoleSpec,
} from "@toolhaft/asset-format";
import { createIndexTerms } from "../../index-terms.ts";
import type { AssetType } from "../../model.ts";
import { byField, type Field } from "../../terms.ts";
import type { Found } from "./found.ts";
import { notTextReason, readRegular } from "./read-bytes.ts";
import { isRacy, stampOf } from "./stamp.ts";

/** What one asset is, as far as lists and searches tell; small, for all of them stay in memory. */
export interface AssetFacts {
  type: AssetType;
  /** Empty for the file itself, else what names the entry inside it. */
  fragment: string;
  name: string;
  role: string | null;
  description: string;
  tags: string[];
  status: "ok" | "broken";
  /** Of a function: its `phase`. */
  label?: string;
  /** Of a role: what it lists. */
  lists?: { skills: string[]; references: { name: string; path?: string }[] };
}

/** What one file says. */
export interface FileRecord {
  stamp: string;
  /** Whether the stamp may stand for a later state, too. */
  racy: boolean;
  version: string;
  bytes: number;
  modifiedAt: number;
  facts: AssetFacts[];
  /** Whether only the beginning is searched. */
  cut: boolean;
}

/** A record together with what goes into the index. */
export interface ReadRecord {
  record: FileRecord;
  /** Terms by field, for each of `record.facts`. */
  terms: Record<Field, string>[];
}

/** Bytes of a file that are searched. */
export const mostIndexed = 256 * 1024;

/** Reads files into records; one serves the files of one look at the disk. */
export function createReader(): (found: Found, now: number) => ReadRecord {
  const indexTerms = createIndexTerms();
  return (found, now) => readRecord(found, now, indexTerms);
}

function readRecord(found: Found, now: number, indexTerms: (text: string) => string): ReadRecord {
  const read = found.fault === undefined ? readRegular(found.real) : { ok: false as const, reason: found.fault };
  if (!read.ok) return unreadable(found, indexTerms);
  const { bytes, stat } = read;
  const version = createHash("sha256").update(bytes).digest("hex");
  const base = {
    stamp: stampOf(stat),
    racy: isRacy(stat, now),
    version,
    bytes: bytes.length,
    modifiedAt: Math.floor(Number(stat.mtimeNs) / 1e6),
    cut: bytes.length > mostIndexed,
  };
  const reason = notTextReason(bytes);
  if (reason !== undefined) {
    const facts = brokenFacts(found);
    return { record: { ...base, facts: [facts] }, terms: [termsOf(facts, "", indexTerms)] };
  }
  const text = bytes.toString("utf8");
  const entries = entriesOf(found, text);
  return {
    record: { ...base, facts: entries.map(({ facts }) => facts) },
    terms: entries.map(({ facts, body }) => termsOf(facts, body, indexTerms)),
  };
}

function unreadable(found: Found, indexTerms: (text: string) => string): ReadRecord {
  const facts = brokenFacts(found);
  const version = createHash("sha256").update(found.stamp).digest("hex");
  const { stamp, bytes, modifiedAt } = found;
  return {
    record: { stamp, racy: false, version, bytes, modifiedAt, facts: [facts], cut: false },
    terms: [termsOf(facts, "", indexTerms)],
  };
}

function brokenFacts({ type, name, role }: Found): AssetFacts {
  return { type, fragment: "", name, role, description: "", tags: [], status: "broken" };
}

interface Entry {
  facts: AssetFacts;
  body: string;
}

function entriesOf(found: Found, text: string): Entry[] {
  switch (found.type) {
    case "skill":
      return [skillEntry(found, text)];
    case "function":
      return [functionEntry(found, parseFunction(text, basename(found.path)), text)];
    case "reference":
      return [referenceEntry(found, text)];
    case "role": {
      const { value } = parseRole(text, found.name);
      return value ? roleEntries(value, "") : [{ facts: brokenFacts(found), body: text }];
    }
  }
}

function skillEntry(found: Found, text: string): Entry {
  const { value } = parseSkill(text, basename(dirname(found.path)));
  if (!value) return { facts: brokenFacts(found), body: text };
  const { description, tags, body } = value;
  // A skill is called by its folder: a wrong name in it is a problem of its own.
  return { facts: { ...brokenFacts(found), description, tags, status: "ok" }, body };
}

function functionEntry(found: Found, { value }: Parsed<FunctionSpec>, text: string): Entry {
  if (!value) return { facts: brokenFacts(found), body: text };
  const { name, description, label, body } = value;
  return {
    facts: { ...brokenFacts(found), name, description, status: "ok", ...(label !== undefined && { label }) },
    body,
  };
}

function referenceEntry(found: Found, text: string): Entry {
  const hasHead = /^\ufeff?---\r?\n/.test(text);
  const head = hasHead ? parseFrontmatter(text) : undefined;
  const body = head?.document ? text.slice(head.bodyStart) : text;
  const told = head?.data.description;
  const heading = /^#{1,6}[ \t]+(.+?)[ \t]*#*\r?$/m.exec(body)?.[1];
  const description = typeof told === "string" ? told : (heading ?? "");
  return { facts: { ...brokenFacts(found), description, status: "ok" }, body };
}

function roleEntries(spec: RoleSpec, fragment: string): Entry[] {
  const { id, description, skills, references } = spec;
  const role: AssetFacts = {
    type: "role",
    fragment,
    name: id,
    role: id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null,
    description,
    tags: [],
    status: "ok",
    lists: { skills, references: references.map(({ name, path }) => ({ name, ...(path !== undefined && { path }) })) },
  };
  const prefix = fragment === "" ? "" : `${fragment}/`;
  const inner = (type: AssetType, name: string, told: string): AssetFacts => ({
    type,
    fragment: `${prefix}${name}`,
    name,
    role: id,
    description: told,
    tags: [],
    status: "ok",
  });
  return [
    { facts: role, body: spec.prompt ?? "" },
    ...spec.inlineFunctions.map((one) => ({
      facts: { ...inner("function", one.name, one.description), ...(one.label !== undefined && { label: one.label }) },
      body: one.body,
    })),
    ...references.flatMap(({ name, description: told, text }) =>
      text === undefined ? [] : [{ facts: inner("reference", name, told), body: text }],
    ),
    ...spec.subagents.flatMap((sub) => roleEntries(sub, `${prefix}${sub.id.slice(sub.id.lastIndexOf("/") + 1)}`)),
  ];
}

function termsOf(facts: AssetFacts, body: string, indexTerms: (text: string) => string): Record<Field, string> {
  const searched =
    Buffer.byteLength(body) > mostIndexed ? Buffer.from(body).subarray(0, mostIndexed).toString("utf8") : body;
  const headings = [...searched.matchAll(/^#{1,6}[ \t]+(.+)$/gm)].map(([, heading = ""]) => heading).join("\n");
  const texts: Record<Field, string> = {
    name: facts.name,
    tags: facts.tags.join(" "),
    description: facts.description,
    headings,
    body: searched,
  };
  return byField((field) => indexTerms(texts[field]));
}
