import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { parseConfig } from "../src/config/parse.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const command = fileURLToPath(new URL("../dist/bin.js", import.meta.url));

it("every line of the README's example runs", { timeout: 300_000 }, async () => {
  await using workspace = await tempWorkspace({ "README.md": "a single option\n" });
  const lines = (/```sh\n(toolhaft mcp[\s\S]*?)```/.exec(readme)?.[1] ?? "").trim().split("\n");
  expect(lines).toHaveLength(5);
  const printed = lines.map((line) =>
    execFileSync(
      "sh",
      ["-c", line.replace(/(^|\| )toolhaft /, (_found, before) => `${before}"$0" "$1" `), process.execPath, command],
      {
        cwd: workspace.directory,
        encoding: "utf8",
        input: "",
        stdio: ["pipe", "pipe", "ignore"],
      },
    ),
  );
  expect(printed[0]).toBe("");
  expect(printed[1]).toContain("hashline_edit");
  expect(printed[2]).toContain("Example:");
  expect(printed[3]).toMatch(/1#[a-z]{2}\|a single option/);
  expect(JSON.parse(printed[4] ?? "")).toMatchObject({ schema: "toolhaft_result_v1", ok: true });
});

it("the README's config is one", () => {
  const text = /```json\n([\s\S]*?)```/.exec(readme)?.[1] ?? "";
  expect(parseConfig(text, "toolhaft.config.json")).toMatchObject({ families: ["hashline", "memory"] });
});
