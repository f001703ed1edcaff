import { isObject, type JsonRecord } from "./json-line.ts";

/** Reading of untrusted JSON: the value when it has the wanted type, else undefined. */
export function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

export function nonEmpty(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function object(value: unknown): JsonRecord | undefined {
  return isObject(value) ? value : undefined;
}

export function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objects(value: unknown): readonly JsonRecord[] {
  return list(value).filter(isObject);
}

/** A count of tokens: a finite number that is not negative, else 0. */
export function count(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0;
}

export function finite(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** ISO 8601 UTC of a time stamp written as text, or as seconds or milliseconds since the epoch. */
export function isoTime(value: unknown): string | null {
  if (typeof value === "number" && Number.isFinite(value)) {
    const milliseconds = Math.abs(value) < 1e11 ? value * 1000 : value;
    return isoOf(new Date(milliseconds));
  }
  if (typeof value !== "string" || value === "") return null;
  return /^\d+(\.\d+)?$/.test(value) ? isoTime(Number(value)) : isoOf(new Date(value));
}

function isoOf(date: Date): string | null {
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** Text of content given as a string, or as blocks with `text`. */
export function blocksText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) {
    return value
      .map((block) => (typeof block === "string" ? block : blockText(object(block))))
      .filter((part) => part !== "")
      .join("\n");
  }
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

function blockText(block: JsonRecord | undefined): string {
  if (block === undefined) return "";
  const own = text(block.text);
  if (own !== undefined) return own;
  const type = text(block.type);
  return type === undefined ? JSON.stringify(block) : `[${type}]`;
}
