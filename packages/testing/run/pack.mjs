// The file npm would get of each package, and what it weighs.
import { execFileSync, spawn } from "node:child_process";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { basename } from "node:path";
import { pnpmCommand, workspacePackages } from "./setup.mjs";

const budgetFile = new URL("budgets.json", import.meta.url);
const budgets = JSON.parse(readFileSync(budgetFile, "utf8"));
/** Budgets are round numbers: what is packed by ten kilobytes, an installation by half a megabyte. */
const roundTo = { packed: 10_000, unpacked: 10_000, installed: 500_000 };

/** The packages that a release publishes. */
export function publishedPackages() {
  return workspacePackages().filter(({ manifest }) => manifest.private !== true);
}

/** Packs one package; gives the file, or pnpm's words when it cannot. */
export async function pack({ path }, destination) {
  const { code, stdout, output } = await run(
    pnpmCommand(),
    ["pack", "--json", "--pack-destination", destination],
    path,
  );
  if (code !== 0) return { problem: output };
  const { filename } = JSON.parse(stdout);
  return { file: filename };
}

/** Paths in a packed file. pnpm's own list leaves out the LICENSE it adds from the root. */
export function namesIn(file) {
  return execFileSync("tar", ["-tzf", file], { encoding: "utf8" })
    .split("\n")
    .filter((name) => name !== "")
    .map((name) => name.replace("package/", ""));
}

/** Bytes of a packed file, and of what it unpacks to. */
export function weigh(file) {
  const lines = execFileSync("tar", ["-tvzf", file], { encoding: "utf8" }).split("\n");
  const unpacked = lines.reduce((sum, line) => sum + Number(/^\S+\s+\S+\s+(\d+)/.exec(line)?.[1] ?? 0), 0);
  return { packed: statSync(file).size, unpacked };
}

/**
 * What is over its budget by more than a twentieth: growth is either taken back, or the budget changes in the same commit.
 *
 * @param figures Bytes by what is measured, as in budgets.json.
 */
export function overBudget(name, figures) {
  const budget = budgets[name];
  if (budget === undefined) return [`${name} has no budget in packages/testing/run/budgets.json`];
  return Object.entries(figures)
    .filter(([what, bytes]) => !(bytes <= budget[what] * 1.05))
    .map(([what, bytes]) => `${name}: ${what} ${bytes} bytes, its budget in budgets.json is ${budget[what]}`);
}

/** Takes what was measured for the budget of the packages measured. */
export function writeBudgets(measured) {
  for (const [name, figures] of Object.entries(measured))
    budgets[name] = Object.fromEntries(
      Object.entries(figures).map(([what, bytes]) => [what, Math.ceil(bytes / roundTo[what]) * roundTo[what]]),
    );
  const sorted = Object.entries(budgets).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(budgetFile, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`);
}

/**
 * Runs a program to its end; gives its exit code (or signal), standard output, and both outputs together.
 *
 * @param input Lines it reads; its input ends when standard output holds `until`.
 */
export function run([command, ...first], words, cwd, env = process.env, input) {
  return new Promise((resolve, reject) => {
    const stdio = [input === undefined ? "ignore" : "pipe", "pipe", "pipe"];
    const child = spawn(command, [...first, ...words], { cwd, env, stdio });
    let stdout = "";
    let output = "";
    for (const line of input?.lines ?? []) child.stdin.write(`${line}\n`);
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
      if (input !== undefined && stdout.includes(input.until)) child.stdin.end();
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", (error) => reject(new Error(`${basename(command)}: ${error.message}`, { cause: error })));
    child.on("close", (code, signal) => resolve({ code: code ?? signal, stdout, output }));
  });
}
