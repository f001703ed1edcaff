import { spliceBytes } from "@toolhaft/workspace";
import iconv from "iconv-lite";
import { describe, expect, it } from "vitest";
import { anchorIn, desk } from "./desk.ts";

describe("tools together", () => {
  it("lose no edit of one file when all write at once, one of them by bytes", async () => {
    const at = desk();
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);
    at.put("f", lines.map((line) => `${line}\n`).join(""));
    const read = await at.read("f");
    const byBytes = at.workspace.edit(
      ["f"],
      (files) => {
        const file = files.get("f");
        if (!file) throw new Error("gone");
        const start = Buffer.from(file.bytes).indexOf("line 30\n");
        const spliced = spliceBytes(file, [{ start, end: start + 7, insert: Buffer.from("by bytes") }]);
        const change = { kind: "replace" as const, path: "f", bytes: spliced.bytes, lineChanges: spliced.changes };
        return { changes: [change], result: undefined };
      },
      at.context,
    );
    const edits = [{ pos: anchorIn(read, 5), lines: ["by anchor", "and more"] }];
    const patch = "*** Begin Patch\n*** Update File: f\n@@\n-line 20\n+by patch\n*** End Patch";
    const results = await Promise.all([
      at.call("hashline_edit", { files: [{ filePath: "f", version: read.version, edits }] }),
      at.call("edit_file", { path: "f", old_content: "line 12\n", new_content: "by text\n" }),
      at.call("apply_patch", { patch }),
    ]);
    await byBytes;
    for (const result of results) expect(result.ok, result.text).toBe(true);
    const expected = lines.with(11, "by text").with(19, "by patch").with(29, "by bytes");
    expect(at.text("f").split("\n").slice(0, -1)).toEqual(expected.toSpliced(4, 1, "by anchor", "and more"));
  });

  it("edit a GBK file to other Chinese text and back to the same bytes", async () => {
    const at = desk({}, { encodingOf: () => "gbk" });
    const old = iconv.encode("第一行\r\n漢字abc\n尾", "gbk");
    at.put("f", old);
    const first = await at.read("f");
    expect(first.lines.map(({ text }) => text)).toEqual(["第一行", "漢字abc", "尾"]);
    await at.edited("f", first.version, [{ pos: anchorIn(first, 1), lines: ["新行"] }]);
    await at.ok("edit_file", { path: "f", old_content: "字a", new_content: "语b" });
    expect(iconv.decode(at.bytes("f"), "gbk")).toBe("新行\r\n漢语bbc\n尾");
    await at.ok("edit_file", { path: "f", old_content: "语b", new_content: "字a" });
    const patch = "*** Begin Patch\n*** Update File: f\n@@\n-新行\n+第一行\n*** End Patch";
    await at.ok("apply_patch", { patch });
    expect(at.bytes("f")).toEqual(old);
    const refused = await at.call("edit_file", { path: "f", old_content: "尾", new_content: "😀" });
    expect(refused).toMatchObject({ ok: false, error: { code: "unsupported" } });
    expect(at.bytes("f")).toEqual(old);
  });
});
