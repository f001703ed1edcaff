import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ApplyPatchData } from "../src/tools/apply-patch.ts";
import type { HashlineEditData } from "../src/tools/edit.ts";
import type { UndoEditData } from "../src/tools/undo-edit.ts";
import { data, desk, expectRejected } from "./desk.ts";

describe("undo_edit", () => {
  it("takes back this session's newest edit, one after the other, and can be redone", async () => {
    const at = desk();
    at.put("f", "a\nb\n");
    const first = data<HashlineEditData>(await at.notation("f", [["R1", ["1"]]]));
    await at.notation("f", [["R2", ["2"]]]);
    const undone = await at.ok<UndoEditData>("undo_edit", {});
    expect(at.text("f")).toBe("1\nb\n");
    expect(undone.data).toMatchObject({ remaining: 1, files: [{ filePath: "f", version: first.files[0]?.version }] });
    expect(undone.text).toContain(`This undo is ${undone.data.commitId}: pass it as commit to redo.`);
    const again = await at.ok<UndoEditData>("undo_edit", {});
    expect(at.text("f")).toBe("a\nb\n");
    expect(again.data).toMatchObject({ undone: first.commitId, remaining: 0 });
    await at.ok("undo_edit", { commit: again.data.commitId });
    expect(at.text("f")).toBe("1\nb\n");
  });

  it("takes back a create, a delete and a move", async () => {
    const at = desk();
    at.put("old", "x\n");
    at.put("gone", "y\n");
    const patch =
      "*** Begin Patch\n*** Add File: made\n+1\n*** Update File: old\n*** Move to: new\n*** Delete File: gone\n*** End Patch";
    await at.ok<ApplyPatchData>("apply_patch", { patch });
    const { data: told } = await at.ok<UndoEditData>("undo_edit", {});
    expect([at.text("old"), at.text("gone")]).toEqual(["x\n", "y\n"]);
    expect(existsSync(join(at.directory, "made"))).toBe(false);
    expect(told.files.find(({ filePath }) => filePath === "made")?.version).toBe(null);
  });

  it("refuses when a file changed since, and restores nothing", async () => {
    const at = desk();
    at.put("f", "a\n");
    await at.notation("f", [["R1", ["b"]]]);
    at.put("f", "foreign\n");
    expectRejected(await at.call("undo_edit", {}), "conflict", /changed since/);
    expect(at.text("f")).toBe("foreign\n");
  });

  it("tells when there is nothing, and lists the last commits for a wrong id", async () => {
    const at = desk();
    expectRejected(await at.call("undo_edit", {}), "not_found", "nothing to undo");
    at.put("f", "a\n");
    const { commitId } = data<HashlineEditData>(await at.notation("f", [["R1", ["b"]]]));
    expectRejected(await at.call("undo_edit", { commit: "nope" }), "not_found", `${commitId}  f`);
    expectRejected(await at.call("undo_edit", {}, at.session()), "not_found", "this session has nothing to undo");
  });

  it("writes nothing on a dry run", async () => {
    const at = desk();
    at.put("f", "a\n");
    await at.notation("f", [["R1", ["b"]]]);
    const { text } = await at.ok("undo_edit", { dry_run: true });
    expect(text).toMatch(/^Dry run, nothing written\. Would undo /);
    expect(at.text("f")).toBe("b\n");
  });
});
