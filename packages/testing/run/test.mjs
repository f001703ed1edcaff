// npm test: install, build, checks, tests. npm run test:long: install, build, what is long. Both end with the counts.
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build, install, orExit, pnpmCommand, requireNode, root } from "./setup.mjs";
import { installSystemPrograms } from "./system.mjs";

const long = process.argv.includes("--long");
requireNode();
orExit(install);
orExit(build);
installSystemPrograms(long ? "long" : "test");

const parts = [];
if (long) {
  console.log("== packed packages in projects of their own");
  const { runConsumers } = await import("./consumer.mjs");
  parts.push(await runConsumers({ whole: true }));
} else {
  console.log("== checks");
  const { runChecks } = await import("./checks.mjs");
  parts.push(await runChecks());
}
console.log(long ? "== long tests" : "== tests");
parts.push(runVitest());

const failed = parts.flatMap((part) => part.failed);
const skipped = parts.flatMap((part) => part.skipped);
const passed = parts.reduce((sum, part) => sum + part.passed, 0);
if (skipped.length > 0) console.log(`\nSkipped:\n${skipped.map((name) => `  ${name}`).join("\n")}`);
if (failed.length > 0) console.log(`\nFailed:\n${failed.map((name) => `  ${name}`).join("\n")}`);
console.log(`\n${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
process.exitCode = failed.length > 0 || passed === 0 ? 1 : 0;

function runVitest() {
  const folder = mkdtempSync(join(tmpdir(), "toolhaft-test-"));
  const summaryFile = join(folder, "summary.json");
  const [command, first] = pnpmCommand();
  const reporters = ["--reporter=default", `--reporter=${join(root, "packages/testing/run/reporter.mjs")}`];
  try {
    const { status, signal } = spawnSync(
      command,
      [...first, "exec", "vitest", "run", "--config", "vitest.workspace.ts", ...reporters],
      {
        cwd: root,
        stdio: "inherit",
        env: { ...process.env, TOOLHAFT_TEST_SUMMARY: summaryFile, TOOLHAFT_LONG: long ? "1" : "0" },
      },
    );
    const summary = existsSync(summaryFile)
      ? JSON.parse(readFileSync(summaryFile, "utf8"))
      : { passed: 0, failed: [], skipped: [] };
    // Vitest may fail for a reason that no test carries (a broken config, no file found): that is a failure, too.
    if (status !== 0 && summary.failed.length === 0) summary.failed.push(`vitest ended with ${signal ?? status}`);
    if (summary.passed + summary.failed.length === 0) summary.failed.push("no test ran");
    return summary;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
