import { existsSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { changedPaths, contextFor, fakeClock, tempWorkspace } from "../src/index.ts";

describe("tempWorkspace", () => {
  it("holds the files it was given and is gone afterwards", async () => {
    const workspace = await tempWorkspace({ "src/a.ts": "one\n" });
    expect(await workspace.read("src/a.ts")).toBe("one\n");
    await workspace.remove();
    expect(existsSync(workspace.directory)).toBe(false);
  });

  it("tells which files changed, and leaves the tools' own state out", async () => {
    await using workspace = await tempWorkspace({ a: "1", b: "2" });
    const before = workspace.snapshot();
    await workspace.write({ b: "3", "c/d": "4", ".toolhaft/x": "5" });
    expect(changedPaths(before, workspace.snapshot()).sort()).toEqual(["b", "c", "c/d"]);
  });
});

it("contextFor lets files inside the folder be written and refuses others", async () => {
  await using workspace = await tempWorkspace();
  const context = contextFor(workspace.directory);
  const write = (path: string): Promise<void> =>
    context.ask({ permission: "file.write", resources: [path], reason: "test" });
  await write(workspace.path("a"));
  await expect(write("/elsewhere/a")).rejects.toMatchObject({ code: "denied", details: { by: "no_asker" } });
});

it("fakeClock stands still until it is moved", () => {
  const clock = fakeClock(1_000);
  expect(clock.now()).toBe(1_000);
  clock.advance(50);
  expect(clock.now()).toBe(1_050);
});
