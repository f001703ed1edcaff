// The suites one after the other; the last line is their sum. The long one joins with TOOLHAFT_CI_LONG=1.
import { spawn } from "node:child_process";
import { root } from "./setup.mjs";

const suites = [await suite(["test"])];
if (process.env.TOOLHAFT_CI_LONG === "1") suites.push(await suite(["run", "test:long"]));
const sum = suites.reduce((total, { counts }) => total.map((count, at) => count + counts[at]), [0, 0, 0]);
const failedSilently = suites.filter(({ code, counts }) => code !== 0 && counts[1] === 0).length;
const [passed, failed, skipped] = [sum[0], sum[1] + failedSilently, sum[2]];
console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;

/** Runs one npm script, shows its output as it comes, and reads the counts from its last matching line. */
function suite(words) {
  return new Promise((resolve) => {
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    const child = spawn(npm, words, { cwd: root, stdio: ["ignore", "pipe", "inherit"] });
    let tail = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      process.stdout.write(text);
      tail = (tail + text).slice(-2_000);
    });
    child.on("close", (code) => {
      const found = [...tail.matchAll(/^(\d+) passed, (\d+) failed, (\d+) skipped$/gm)].at(-1);
      resolve({ code, counts: found === undefined ? [0, 0, 0] : found.slice(1).map(Number) });
    });
  });
}
