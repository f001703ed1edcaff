import { existsSync, readFileSync } from "node:fs";
import { defineStep } from "../tour.ts";

export default defineStep({
  title: "Move a file by patch, and undo it",
  needs: ["apply_patch", "undo_edit"],
  async run(tour) {
    const before = readFileSync(tour.path("SECURITY.md"), "utf8");
    const patch = [
      "*** Begin Patch",
      "*** Update File: SECURITY.md",
      "*** Move to: docs/security.md",
      "*** End Patch",
    ].join("\n");
    await tour.call("apply_patch", { patch });
    tour.check(
      !existsSync(tour.path("SECURITY.md")) && existsSync(tour.path("docs/security.md")),
      "the file was not moved",
    );
    await tour.call("undo_edit", {});
    tour.check(readFileSync(tour.path("SECURITY.md"), "utf8") === before, "the move was not undone");
  },
});
