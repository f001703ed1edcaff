import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../", import.meta.url));

function tour(...words: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ["--import", "tsx", "examples/tour/main.ts", ...words],
      { cwd: repository },
      (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith("toolhaft-tour-"));

// A whole tour of real processes, on a machine that may be busy.
describe("the tour", { timeout: 300_000 }, () => {
  it("shows every present step, changes nothing in the repository and leaves nothing behind", async () => {
    const before = left();
    const { code, out, err } = await tour("--json");
    const report: {
      steps: { title: string; outcome: string; reason?: string; calls: unknown[] }[];
      unchanged: boolean;
      alive: number[];
    } = JSON.parse(out);
    expect(report.steps.filter(({ outcome }) => outcome === "failed")).toEqual([]);
    expect(report).toMatchObject({ unchanged: true, alive: [] });
    expect(report.steps.length).toBeGreaterThanOrEqual(6);
    for (const { outcome, calls, reason } of report.steps)
      expect(outcome === "skipped" ? reason : calls.length).toBeTruthy();
    expect(err).toBe("");
    expect(code).toBe(0);
    expect(left().filter((name) => !before.includes(name))).toEqual([]);
  });

  it("runs one step alone, and says how many there are", async () => {
    const one = await tour("--step", "1");
    expect(one.code).toBe(0);
    expect(one.out).toMatch(/^ 1\. Serve the tools[\s\S]*1 steps done/);
    expect(await tour("--step", "99")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^--step takes a number from 1 to \d+\n$/),
    });
    expect(await tour("--stop")).toMatchObject({
      code: 1,
      out: "",
      err: expect.stringMatching(/^Unknown option.*\nusage:/),
    });
  });
});
