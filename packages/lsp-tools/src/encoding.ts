import type { Encoding } from "./definition.ts";
import { decodeColumn, encodeColumn, type SourceText } from "./positions.ts";

/**
 * Converts every position inside a message between UTF-16 and another encoding.
 *
 * A position belongs to the nearest `uri`, `targetUri` or map key around it; what has none belongs to the document of the
 * request. One walk covers all messages of the protocol, those that servers invent included.
 */
export async function convertPositions(
  message: unknown,
  documentUri: string | undefined,
  encoding: Encoding,
  direction: "encode" | "decode",
  textOf: (uri: string) => Promise<SourceText | undefined>,
): Promise<unknown> {
  if (encoding === "utf-16") return message;
  const uris = new Set<string>();
  walk(message, documentUri, (value, uri) => {
    if (uri !== undefined) uris.add(uri);
    return value;
  });
  const texts = new Map<string, SourceText | undefined>();
  for (const uri of uris) texts.set(uri, await textOf(uri));
  const convert = direction === "encode" ? encodeColumn : decodeColumn;
  return walk(message, documentUri, (position, uri) => {
    const source = uri === undefined ? undefined : texts.get(uri);
    if (source === undefined) return position;
    return { ...position, character: convert(source.line(position.line), position.character, encoding) };
  });
}

interface Position {
  line: number;
  character: number;
}

function isPosition(value: object): value is Position {
  const { line, character } = value as Partial<Position>;
  return typeof line === "number" && typeof character === "number";
}

function walk(
  value: unknown,
  uri: string | undefined,
  visit: (position: Position, uri: string | undefined) => Position,
): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => walk(item, uri, visit));
  if (isPosition(value)) return visit(value, uri);
  const record = value as Record<string, unknown>;
  const own = uriOf(record) ?? uri;
  const result: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(record)) {
    if (key === "data") result[key] = child;
    else if (key === "changes" && typeof child === "object" && child !== null && !Array.isArray(child)) {
      result[key] = Object.fromEntries(Object.entries(child).map(([file, edits]) => [file, walk(edits, file, visit)]));
    } else if (key === "relatedDocuments" && typeof child === "object" && child !== null) {
      result[key] = Object.fromEntries(
        Object.entries(child).map(([file, report]) => [file, walk(report, file, visit)]),
      );
    } else if (key === "originSelectionRange") result[key] = walk(child, uri, visit);
    else if (key === "fromRanges") result[key] = walk(child, fromRangesUri(record, uri), visit);
    else result[key] = walk(child, own, visit);
  }
  return result;
}

function uriOf(record: Record<string, unknown>): string | undefined {
  if (typeof record.uri === "string") return record.uri;
  if (typeof record.targetUri === "string") return record.targetUri;
  const document = record.textDocument;
  if (typeof document === "object" && document !== null) {
    const { uri } = document as { uri?: unknown };
    if (typeof uri === "string") return uri;
  }
  return undefined;
}

/** Of incoming calls they lie in the caller's file, of outgoing ones in that of the item asked for. */
function fromRangesUri(record: Record<string, unknown>, uri: string | undefined): string | undefined {
  const from = record.from;
  if (typeof from !== "object" || from === null) return uri;
  const own = (from as { uri?: unknown }).uri;
  return typeof own === "string" ? own : uri;
}
