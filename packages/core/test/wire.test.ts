import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Attachment,
  errorCodes,
  type FileChange,
  resultFromJson,
  resultToJson,
  type ToolResult,
} from "../src/index.ts";

const state = fc.record({ version: fc.string(), bytes: fc.nat(), lines: fc.nat(), mode: fc.nat() });
const change: fc.Arbitrary<FileChange> = fc.record({
  kind: fc.constantFrom("create", "modify", "delete", "move"),
  path: fc.string(),
  before: fc.option(state),
  after: fc.option(state),
  additions: fc.nat(),
  deletions: fc.nat(),
  diff: fc.string({ unit: "grapheme" }),
  diffTruncated: fc.boolean(),
});
const attachment: fc.Arbitrary<Attachment> = fc.record({
  name: fc.string(),
  mimeType: fc.string(),
  bytes: fc.nat(),
  source: fc.oneof(
    fc.uint8Array({ maxLength: 50 }).map((bytes) => ({ kind: "bytes", bytes: Uint8Array.from(bytes) }) as const),
    fc.string().map((path) => ({ kind: "file", path }) as const),
    fc.string().map((text) => ({ kind: "text", text }) as const),
    fc.webUrl().map((uri) => ({ kind: "uri", uri }) as const),
  ),
});
const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
const optional = <T>(key: string, of: fc.Arbitrary<T>) =>
  fc.option(of, { nil: undefined }).map((value) => (value === undefined ? {} : { [key]: value }));
const result: fc.Arbitrary<ToolResult> = fc.oneof(
  fc
    .tuple(
      fc.string({ unit: "grapheme" }),
      json,
      optional("fileChanges", fc.array(change, { maxLength: 3 })),
      optional("attachments", fc.array(attachment, { maxLength: 3 })),
    )
    .map(([text, data, files, attached]) => ({ ok: true, text, data, ...files, ...attached }) as ToolResult),
  fc
    .tuple(
      fc.string(),
      fc.constantFrom(...errorCodes),
      fc.string(),
      fc.boolean(),
      optional("hint", fc.string()),
      optional("details", fc.dictionary(fc.stringMatching(/^[a-z]{1,5}$/), json, { noNullPrototype: true })),
      optional("fileChanges", fc.array(change, { maxLength: 3 })),
    )
    .map(
      ([text, code, message, retryable, hint, details, files]) =>
        ({ ok: false, text, error: { code, message, retryable, ...hint, ...details }, ...files }) as ToolResult,
    ),
);

describe("wire form", () => {
  it("has the names it promises", () => {
    const text = resultToJson({ name: "echo" }, { ok: true, text: "hi", data: { a: 1 } });
    expect(JSON.parse(text)).toEqual({
      schema: "toolhaft_result_v1",
      ok: true,
      tool: "echo",
      content: "hi",
      error: null,
      data: { a: 1 },
      file_changes: null,
      attachments: null,
    });
  });
  it("round-trips (property)", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z_]{1,20}$/), result, (name, given) => {
        const back = resultFromJson(resultToJson({ name }, given));
        expect(back).toEqual({ tool: name, result: given });
        expect(resultToJson({ name: back.tool }, back.result)).toBe(resultToJson({ name }, given));
      }),
    );
  });
  it.each([
    "",
    "x",
    "{}",
    "[]",
    "null",
    '{"schema":"toolhaft_result_v2"}',
    '{"schema":"toolhaft_result_v1","ok":true}',
    '{"schema":"toolhaft_result_v1","ok":false,"tool":"a","content":"b","error":null}',
    '{"schema":"toolhaft_result_v1","ok":false,"tool":"a","content":"b","error":{"code":"odd","message":"m","retryable":false}}',
    '{"schema":"toolhaft_result_v1","ok":true,"tool":"a","content":"b","file_changes":[1]}',
  ])("%s is a TypeError", (text) => {
    expect(() => resultFromJson(text)).toThrow(TypeError);
  });
  it("carries an attachment of a megabyte", () => {
    const bytes = Uint8Array.from({ length: 1_000_000 }, (_, index) => index % 256);
    const given: ToolResult = {
      ok: true,
      text: "",
      data: null,
      attachments: [{ name: "a", mimeType: "b", bytes: bytes.length, source: { kind: "bytes", bytes } }],
    };
    const { result } = resultFromJson(resultToJson({ name: "a" }, given));
    const [attachment] = result.ok ? (result.attachments ?? []) : [];
    // Not `toEqual`, which takes seconds for a million elements.
    expect(attachment?.source.kind === "bytes" && Buffer.from(attachment.source.bytes).equals(bytes)).toBe(true);
  });
});
