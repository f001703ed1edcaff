import { anchorsOf, defineStep, versionOf } from "../tour.ts";

export default defineStep({
  title: "Read with an anchor on every line, then edit two files at once",
  needs: ["hashline_read", "hashline_edit"],
  async run(tour) {
    const license = await tour.call("hashline_read", { filePath: "LICENSE", limit: 3 });
    const manifest = await tour.call("hashline_read", { filePath: "package.json", limit: 5 });
    const [title] = anchorsOf(license.text);
    const version = anchorsOf(manifest.text).find(({ text }) => text.includes('"version"'));
    tour.check(title !== undefined && version !== undefined, "the files do not look as this step knows them");
    const edited = await tour.call("hashline_edit", {
      files: [
        {
          filePath: "LICENSE",
          version: versionOf(license.text),
          edits: [{ pos: title?.anchor, lines: "The MIT License" }],
        },
        {
          filePath: "package.json",
          version: versionOf(manifest.text),
          edits: [{ pos: version?.anchor, lines: '  "version": "0.0.1",' }],
        },
      ],
    });
    tour.check(
      edited.text.includes("The MIT License") && edited.text.includes("0.0.1"),
      "the diff does not show both files",
    );
  },
});
