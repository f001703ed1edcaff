import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { defineStep } from "../tour.ts";

export default defineStep({
  title: "Write outside the folder: a person is asked once, and says no",
  needs: ["hashline_edit"],
  async run(tour) {
    const filePath = join(dirname(tour.directory), `toolhaft-tour-outside-${process.pid}.txt`);
    const { questions } = tour.answerQuestions("deny", "stay inside the project");
    await tour.call(
      "hashline_edit",
      { files: [{ filePath, version: "new", edits: [{ op: "append", lines: "hello" }] }] },
      "failure",
    );
    tour.check(questions.length === 1, `asked ${questions.length} times`);
    tour.show("(the question the person saw)", questions[0] ?? "");
    tour.check(!existsSync(filePath), "the file was written all the same");
  },
});
