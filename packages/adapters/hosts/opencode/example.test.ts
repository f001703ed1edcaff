import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { Toolhaft } from "../../../../examples/opencode-plugin/main.ts";

it("the example: a plugin whose tools read a file", async () => {
  await using workspace = await tempWorkspace({ "a.txt": "forty-two\n" });
  const { tool } = await Toolhaft();
  const result = await tool.hashline_read?.execute(
    { filePath: "a.txt" },
    {
      sessionID: "ses_1",
      messageID: "msg_1",
      agent: "build",
      directory: workspace.directory,
      worktree: workspace.directory,
      abort: new AbortController().signal,
      metadata: () => undefined,
      ask: async () => undefined,
    },
  );
  expect(result?.output).toContain("forty-two");
});
