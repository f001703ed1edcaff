import { tempWorkspace } from "@toolhaft/testing";
import { expect, it } from "vitest";
import { whatIsKnown } from "../context/main.ts";
import { workflow } from "../functions/main.ts";

it("functions: a plan waits for its approval, then leads to the work, which ends with an answer", async () => {
  await using workspace = await tempWorkspace();
  expect(await workflow(workspace.directory)).toEqual([
    "activated: plan gated",
    "approved: execute active",
    "asked: execute paused",
    "resolved: execute active",
    "answered: execute complete",
  ]);
});

it("context: one text out of a memory, a file and a source of one's own", async () => {
  await using workspace = await tempWorkspace();
  const text = await whatIsKnown("which port does postgres use?", workspace.directory);
  expect(text).toContain("| Staging PostgreSQL listens on port 5433.");
  expect(text).toContain("network.md");
  expect(text).toContain("OPS-7");
  expect(text).toMatch(/^Searched: memory 1 \(1 shown\), files 1 \(1 shown\), tickets 1 \(1 shown\)\.$/m);
});
