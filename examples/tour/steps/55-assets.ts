import { defineStep } from "../tour.ts";

export default defineStep({
  title: "Search and validate the skills of this repository",
  needs: ["asset_search", "asset_inspect", "asset_validate"],
  async run(tour) {
    const found = await tour.call("asset_search", { query: "edit files", type: "skill" });
    tour.check(found.text.includes("edit-files-with-anchors"), "the skill about editing was not found");
    const shown = await tour.call("asset_inspect", { name: "write-a-tool-family", type: "skill", max_chars: 600 });
    tour.check(shown.text.includes("write-a-tool-family/example"), "its reference is not listed");
    const { text } = await tour.call("asset_validate", {});
    tour.check(/0 errors, 0 warnings/.test(text), "the repository's own skills are not clean");
  },
});
