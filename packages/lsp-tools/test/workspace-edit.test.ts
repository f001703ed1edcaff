import { parseText, unifiedDiff } from "@toolhaft/workspace";
import fc from "fast-check";
import { expect, test } from "vitest";
import { TextDocument } from "vscode-languageserver-textdocument";
import { smallestChange } from "../src/documents.ts";
import { planWorkspaceEdit, type Snapshot } from "../src/index.ts";
import { reversePatch } from "../src/reverse-patch.ts";
import { applyOffsets, toOffsets } from "../src/workspace-edit/offsets.ts";

const text = fc
  .array(fc.constantFrom("a", "b", "😀", "\n", "\r\n", "é"), { maxLength: 20 })
  .map((parts) => parts.join(""));

test("random edits give what TextDocument.applyEdits gives; what we refuse, it refuses", () => {
  const spans = fc.array(fc.tuple(fc.nat(25), fc.nat(4), fc.constantFrom("", "x", "yy")), { maxLength: 4 });
  fc.assert(
    fc.property(
      text.map((one) => one.replaceAll("\r\n", "\n")),
      spans,
      (before, rows) => {
        const document = TextDocument.create("", "", 0, before);
        const edits = rows.map(([start, length, newText]) => ({
          range: { start: document.positionAt(start), end: document.positionAt(start + length) },
          newText,
        }));
        const theirs = attempt(() => TextDocument.applyEdits(document, edits));
        const ours = attempt(() => applyOffsets(before, toOffsets("x", before, edits)));
        if (theirs !== undefined) expect(ours).toBe(theirs);
        if (ours === undefined) expect(theirs).toBeUndefined();
      },
    ),
  );
});

test("the smallest change leads from one text to the other, and never cuts a pair", () => {
  fc.assert(
    fc.property(text, text, (before, after) => {
      const change = smallestChange(before, after);
      const document = TextDocument.create("", "", 0, before);
      const start = document.offsetAt(change.range.start);
      const end = document.offsetAt(change.range.end);
      expect(before.slice(0, start) + change.text + before.slice(end)).toBe(after);
      expect(change.text).not.toMatch(/^[\udc00-\udfff]|[\ud800-\udbff]$/);
    }),
  );
});

test("a diff taken back gives the text before", () => {
  const lines = fc.array(fc.constantFrom("a", "b", "c", ""), { maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.nat(12), fc.nat(4), lines, fc.boolean(), (before, at, remove, insert, newline) => {
      const start = Math.min(at, before.length);
      const gone = Math.min(remove, before.length - start);
      const after = [...before.slice(0, start), ...insert, ...before.slice(start + gone)];
      const joined = (rows: string[]) => (rows.length === 0 ? "" : rows.join("\n") + (newline ? "\n" : ""));
      const [old, now] = [joined(before), joined(after)];
      if (old === now || (!newline && (old.endsWith("\n") || now.endsWith("\n")))) return;
      const [a, b] = [parseText(Buffer.from(old)), parseText(Buffer.from(now))];
      const change = { oldStart: start + 1, oldLines: gone, newStart: start + 1, newLines: insert.length };
      const lastLinesDiffer = !newline && start + gone >= before.length;
      if (lastLinesDiffer || a.lineCount !== before.length || b.lineCount !== after.length) return;
      const diff = unifiedDiff(a, b, [change], { before: "x", after: "x" } as never);
      expect(reversePatch(now, diff.text)).toBe(old);
    }),
  );
});

test("operations see what earlier ones did, and nothing happens outside the plan", () => {
  const files: Record<string, string> = { "/w/a": "one", "/w/b": "two" };
  const read = (path: string): Snapshot =>
    files[path] === undefined ? { kind: "missing" } : { kind: "file", text: files[path] };
  const swap = planWorkspaceEdit(
    {
      documentChanges: [
        { kind: "rename", oldUri: "file:///w/a", newUri: "file:///w/c" },
        {
          textDocument: { uri: "file:///w/c", version: null },
          edits: [{ range: { start: { line: 0, character: 0 }, end: { line: 0, character: 3 } }, newText: "ONE" }],
        },
        { kind: "delete", uri: "file:///w/b" },
        { kind: "create", uri: "file:///w/b" },
      ],
    },
    read,
  );
  expect(swap.changes).toMatchObject([
    { operation: "rename", path: "/w/a", to: "/w/c", text: "ONE" },
    { operation: "create", path: "/w/b", text: "", overwrites: true },
  ]);
  const gone = () =>
    planWorkspaceEdit(
      {
        documentChanges: [
          { kind: "delete", uri: "file:///w/a" },
          { kind: "rename", oldUri: "file:///w/a", newUri: "file:///w/x" },
        ],
      },
      read,
    );
  expect(gone).toThrow(expect.objectContaining({ code: "not_found" }));
  const foreign = () => planWorkspaceEdit({ changes: { "untitled:1": [] } }, read);
  expect(foreign).toThrow(expect.objectContaining({ code: "unsupported" }));
});

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
