import { type ErrorCode, errorCodes, type ToolFailure } from "./errors.ts";
import type { FileChange } from "./file-change.ts";
import { isPlainObject } from "./schema/json-value.ts";
import type { Attachment, ToolResult } from "./tool.ts";

const schema = "toolhaft_result_v1";

/** A result as one line of JSON, for hosts with one string. */
export function resultToJson(tool: { readonly name: string }, result: ToolResult): string {
  return JSON.stringify({
    schema,
    ok: result.ok,
    tool: tool.name,
    content: result.text,
    error: result.ok ? null : result.error,
    data: result.ok ? (result.data ?? null) : null,
    file_changes: result.fileChanges ?? null,
    attachments: result.ok && result.attachments !== undefined ? result.attachments.map(toWire) : null,
  });
}

/**
 * The inverse of {@link resultToJson}.
 *
 * @throws TypeError when the text is no result of this form.
 */
export function resultFromJson(text: string): { tool: string; result: ToolResult } {
  const wire = parse(text);
  const { tool, content } = wire;
  if (typeof tool !== "string" || typeof content !== "string" || typeof wire.ok !== "boolean")
    throw malformed("tool, content or ok is missing");
  const fileChanges = listOf(wire.file_changes, "file_changes", isFileChange);
  const changes = fileChanges === undefined ? {} : { fileChanges };
  if (!wire.ok) {
    if (!isFailure(wire.error)) throw malformed("error is no failure");
    return { tool, result: { ok: false, text: content, error: wire.error, ...changes } };
  }
  const attachments = listOf(wire.attachments, "attachments", isWireAttachment)?.map(fromWire);
  return {
    tool,
    result: {
      ok: true,
      text: content,
      data: wire.data,
      ...changes,
      ...(attachments === undefined ? {} : { attachments }),
    },
  };
}

interface WireAttachment {
  name: string;
  mimeType: string;
  bytes: number;
  source: { kind: "bytes"; base64: string } | Exclude<Attachment["source"], { kind: "bytes" }>;
}

function toWire(attachment: Attachment): WireAttachment {
  const { source } = attachment;
  return {
    ...attachment,
    source: source.kind === "bytes" ? { kind: "bytes", base64: toBase64(source.bytes) } : source,
  };
}

function fromWire(attachment: WireAttachment): Attachment {
  const { source } = attachment;
  return {
    ...attachment,
    source: source.kind === "bytes" ? { kind: "bytes", bytes: fromBase64(source.base64) } : source,
  };
}

function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function parse(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new TypeError("resultFromJson: the text is no JSON", { cause });
  }
  if (!isPlainObject(value) || value.schema !== schema) throw malformed(`it is not of the schema ${schema}`);
  return value;
}

function listOf<T>(value: unknown, name: string, test: (item: unknown) => item is T): readonly T[] | undefined {
  if (value === null || value === undefined) return undefined;
  if (!Array.isArray(value) || !value.every(test)) throw malformed(`${name} is no list of them`);
  return value;
}

function isFailure(value: unknown): value is ToolFailure {
  if (!isPlainObject(value) || typeof value.message !== "string" || typeof value.retryable !== "boolean") return false;
  const code = value.code as ErrorCode;
  return errorCodes.includes(code);
}

function isFileChange(value: unknown): value is FileChange {
  return (
    isPlainObject(value) &&
    typeof value.path === "string" &&
    typeof value.kind === "string" &&
    typeof value.diff === "string"
  );
}

function isWireAttachment(value: unknown): value is WireAttachment {
  return (
    isPlainObject(value) &&
    typeof value.name === "string" &&
    typeof value.mimeType === "string" &&
    isPlainObject(value.source)
  );
}

function malformed(why: string): TypeError {
  return new TypeError(`resultFromJson: the text is no result, ${why}`);
}
