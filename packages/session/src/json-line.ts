import type { ProblemCode } from "./model.ts";

/** More tries than any torn write needs; keeps a line of braces from costing its square. */
const maxTries = 64;

export type JsonRecord = Readonly<Record<string, unknown>>;

export interface ParsedLine {
  records: readonly JsonRecord[];
  problems: readonly ProblemCode[];
}

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenient = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * The records of one line. Hosts write one object a line, but several writers and torn writes leave two on a line, or
 * half of one before the next: what is whole is kept, what is lost is named.
 *
 * @param isRecord tells a record of the format from an object that merely stood inside a torn one
 */
export function parseLine(bytes: Uint8Array, isRecord: (value: JsonRecord) => boolean): ParsedLine {
  const problems: ProblemCode[] = [];
  const text = decode(bytes, problems).trim();
  if (text === "") return { records: [], problems };
  const whole = parseJson(text);
  if (whole.ok) {
    if (isObject(whole.value)) return { records: [whole.value], problems };
    return { records: [], problems: [...problems, "not_an_object"] };
  }
  const records = glued(text, isRecord);
  return { records, problems: [...problems, records.length === 0 ? "malformed_line" : "glued_objects"] };
}

export function isObject(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function decode(bytes: Uint8Array, problems: ProblemCode[]): string {
  try {
    return strict.decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    problems.push("invalid_utf8");
    return lenient.decode(bytes);
  }
}

function parseJson(text: string): { ok: true; value: unknown } | { ok: false } {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { ok: false };
  }
}

function glued(text: string, isRecord: (value: JsonRecord) => boolean): JsonRecord[] {
  const records: JsonRecord[] = [];
  let at = text.indexOf("{");
  for (let tries = 0; at !== -1 && tries < maxTries; tries += 1) {
    const end = endOfObject(text, at);
    const parsed = end === -1 ? undefined : parseJson(text.slice(at, end));
    if (parsed?.ok && isObject(parsed.value) && isRecord(parsed.value)) {
      records.push(parsed.value);
      at = text.indexOf("{", end);
    } else {
      at = text.indexOf("{", at + 1);
    }
  }
  return records;
}

/** The index after the brace that closes the object at `start`, or -1. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inString) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) inString = false;
    } else if (code === 0x22) inString = true;
    else if (code === 0x7b) depth += 1;
    else if (code === 0x7d) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return -1;
}
