import { readFileSync, writeFileSync } from "node:fs";
import { anchorsOf, defineStep, versionOf } from "../tour.ts";

export default defineStep({
  title: "Change a file behind the model's back: the stale edit is refused, then succeeds by the hint",
  needs: ["hashline_read", "hashline_edit"],
  async run(tour) {
    const filePath = ".gitignore";
    const read = await tour.call("hashline_read", { filePath });
    const first = anchorsOf(read.text)[0];
    tour.check(first !== undefined, `${filePath} is empty`);
    const text = readFileSync(tour.path(filePath), "utf8");
    writeFileSync(tour.path(filePath), text.replace(/^.*$/m, "node_modules/**"));
    tour.show("(another program changes line 1)", "node_modules/**");
    const edit = (version: string, pos: string | undefined) => ({
      files: [{ filePath, version, edits: [{ pos, lines: "node_modules" }] }],
    });
    const refused = await tour.call("hashline_edit", edit(versionOf(read.text), first?.anchor), "failure");
    tour.check(readFileSync(tour.path(filePath), "utf8").startsWith("node_modules/**"), "the refused edit was written");
    const fresh = anchorsOf(refused.text).find(({ line }) => line === first?.line);
    const now = /(?:now |version: ?")([0-9a-f]{12,64})/.exec(refused.text)?.[1];
    tour.check(fresh !== undefined && now !== undefined, "the refusal names no fresh anchor and version");
    await tour.call("hashline_edit", edit(now ?? "", fresh?.anchor));
    tour.check(
      readFileSync(tour.path(filePath), "utf8").startsWith("node_modules\n"),
      "the mended edit was not written",
    );
  },
});
