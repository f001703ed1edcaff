import { createHash } from "node:crypto";
import { type Setting, testFamily } from "@toolhaft/testing";
import { expect } from "vitest";
import { createHashline } from "../src/hashline.ts";
import type { HashlineEditData } from "../src/tools/edit.ts";
import type { HashlineReadData } from "../src/tools/read.ts";

const files = { "src/app.ts": "export function start() {\n  listen(8080);\n}\n", "notes.md": "# Notes\n- a\n- b\n" };
const version = createHash("sha256").update(files["src/app.ts"]).digest("hex").slice(0, 12);

/** Anchors as a read gives them; `at` counts lines. */
async function anchors({ call }: Setting, filePath: string): Promise<{ version: string; at(line: number): string }> {
  const data = (await call("hashline_read", { filePath })).data as HashlineReadData;
  return { version: data.version, at: (line) => `${line}#${data.lines[line - 1]?.hash}` };
}

let prepared: unknown;

const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

testFamily({
  make: () => createHashline(),
  golden: new URL("./golden/", import.meta.url),
  processes: { module: new URL("../src/index.ts", import.meta.url), factory: "createHashline" },
  tools: {
    hashline_read: {
      files,
      valid: [
        { title: "a whole file", input: { filePath: "src/app.ts" } },
        {
          title: "a part",
          input: { filePath: "src/app.ts", offset: 2, limit: 1 },
          check: ({ text }) => expect(text).toContain("next: hashline_read"),
        },
      ],
      invalid: [
        { title: "no path", input: {} },
        { title: "a missing file", input: { filePath: "src/ap.ts" }, code: "not_found", text: "src/app.ts" },
        { title: "a file outside", input: { filePath: "/etc/hostname" }, code: "denied" },
        {
          title: "an offset past the end",
          input: { filePath: "src/app.ts", offset: 9 },
          text: /past the end: 3 lines/,
        },
      ],
    },
    hashline_edit: {
      files,
      // Seven levels of nesting are over the limit of that profile.
      unsupported: ["openai-strict"],
      valid: [
        {
          title: "two edits of one file",
          prepare: async (setting) => {
            const { version: at, at: anchor } = await anchors(setting, "src/app.ts");
            const edits = [
              { pos: anchor(2), lines: ["  listen(port);"] },
              { pos: anchor(3), lines: "}\n// end\n" },
            ];
            prepared = { files: [{ filePath: "src/app.ts", version: at, edits }] };
          },
          input: () => prepared,
          check: ({ data }) => expect((data as HashlineEditData).files[0]?.additions).toBe(3),
        },
      ],
      invalid: [
        { title: "no files", input: { files: [] } },
        {
          title: "an unknown version",
          input: { files: [{ filePath: "notes.md", version: "0".repeat(12), edits: [{ pos: "1#aa", lines: ["x"] }] }] },
          code: "conflict",
          text: /^Rejected, nothing written\. conflict: notes\.md is at version/,
        },
        {
          title: "a mistyped anchor",
          input: { files: [{ filePath: "src/app.ts", version, edits: [{ pos: "2#zz", lines: ["x"] }] }] },
          text: /2#zz is not line 2, which is 2#[a-z]{2}/,
        },
        {
          title: "a missing file",
          input: { files: [{ filePath: "gone", version, edits: [{ pos: "1#aa", lines: ["x"] }] }] },
          code: "not_found",
        },
      ],
    },
    edit_file: {
      files,
      valid: [
        { title: "text", input: { path: "src/app.ts", old_content: "8080", new_content: "port" } },
        {
          title: "a range",
          // A function, for the second of two processes would find the lines gone.
          input: () => ({ path: "notes.md", start_line: 2, end_line: 3, new_content_lines: ["- c"] }),
        },
      ],
      invalid: [
        { title: "no mode", input: { path: "notes.md", new_content: "x" } },
        {
          title: "text that is not there",
          input: { path: "notes.md", old_content: "- z\n", new_content: "x" },
          code: "conflict",
          text: /Closest places/,
        },
        { title: "a missing file", input: { path: "gone", old_content: "a", new_content: "b" }, code: "not_found" },
        {
          title: "a version that is none",
          input: { path: "notes.md", old_content: "a", new_content: "b", version: "3" },
          text: /12 to 64 hex digits/,
        },
      ],
      finer: ["version"],
    },
    apply_patch: {
      files,
      valid: [
        {
          title: "an update, an addition and a move",
          input: {
            patch: patch(
              "*** Update File: src/app.ts",
              "@@ export function start() {",
              "-  listen(8080);",
              "+  listen(port);",
              "*** Add File: src/port.ts",
              "+export const port = 8080;",
              "*** Update File: notes.md",
              "*** Move to: docs/notes.md",
            ),
          },
        },
      ],
      invalid: [
        { title: "no envelope", input: { patch: "hello" }, text: /patch line 1/ },
        {
          title: "a hunk that fits nowhere",
          input: { patch: patch("*** Update File: notes.md", "@@", "-zzz", "+y") },
          code: "conflict",
          text: /hunk 1/,
        },
      ],
    },
    undo_edit: {
      files,
      valid: [
        {
          title: "the last edit",
          input: {},
          prepare: async ({ call }) => {
            await call("edit_file", { path: "notes.md", old_content: "- a", new_content: "- A" });
          },
        },
      ],
      invalid: [
        { title: "nothing to undo", input: {}, code: "not_found" },
        { title: "an unknown commit", input: { commit: "nope" }, code: "not_found" },
      ],
    },
  },
});
