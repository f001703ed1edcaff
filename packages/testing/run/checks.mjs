// The checks that are no vitest tests: each counts as one test, and its output is shown when it fails.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pnpmCommand, root, workspacePackages } from "./setup.mjs";

/** Runs all checks, two at a time, and gives the counts. */
export async function runChecks() {
  const packed = mkdtempSync(join(tmpdir(), "toolhaft-pack-"));
  try {
    const published = workspacePackages().filter(({ manifest }) => manifest.private !== true);
    const queue = [
      { name: "biome", work: () => exec("biome", "check", ".") },
      { name: "tsc", work: () => exec("tsc", "--noEmit", "-p", "tsconfig.json") },
      { name: "knip", work: () => exec("knip", "--no-progress", "--no-config-hints") },
      ...published.map((entry) => ({
        name: `pack ${entry.name}`,
        work: () => checkPacked(entry, join(packed, entry.folder)),
      })),
    ];
    const summary = { passed: 0, failed: [], skipped: [] };
    await Promise.all([drain(queue, summary), drain(queue, summary)]);
    return summary;
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
}

async function drain(queue, summary) {
  for (let check = queue.shift(); check !== undefined; check = queue.shift()) {
    const start = Date.now();
    const problem = await check.work().catch((error) => String(error?.stack ?? error));
    const seconds = ((Date.now() - start) / 1_000).toFixed(1);
    console.log(`${problem === undefined ? "ok    " : "FAILED"} ${check.name} (${seconds} s)`);
    if (problem === undefined) summary.passed++;
    else {
      console.log(problem);
      summary.failed.push(check.name);
    }
  }
}

/** The file npm would get: complete, without sources, importable by its own exports, with types that resolve. */
async function checkPacked({ path, manifest }, destination) {
  const packed = await pnpmRun(["pack", "--json", "--pack-destination", destination], path);
  if (packed.code !== 0) return packed.output;
  const { filename } = JSON.parse(packed.stdout);
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const bytes = readFileSync(filename);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ pack: { tarball }, strict: true });
  const problems = messages.map((message) => `publint: ${formatMessage(message, manifest)}`);
  // pnpm's own list leaves out the LICENSE it adds from the root.
  const names = execFileSync("tar", ["-tzf", filename], { encoding: "utf8" })
    .split("\n")
    .map((name) => name.replace("package/", ""));
  for (const name of ["README.md", "LICENSE"])
    if (!names.includes(name)) problems.push(`the packed file lacks ${name}`);
  for (const name of names) if (/^(src|test|bench)\//.test(name)) problems.push(`the packed file holds ${name}`);
  if (manifest.engines?.node === undefined) problems.push('"engines.node" is missing');
  const types = await exec("attw", filename, "--profile", "esm-only", "--no-color", "--no-emoji");
  if (types !== undefined) problems.push(types);
  return problems.length === 0 ? undefined : problems.join("\n");
}

/** Runs a development tool of the root; gives its output when it fails. */
async function exec(...words) {
  const { code, output } = await pnpmRun(["exec", ...words], root);
  return code === 0 ? undefined : `${output}\n(${words.join(" ")} ended with ${code})`;
}

function pnpmRun(words, cwd) {
  const [command, first] = pnpmCommand();
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...words], { cwd, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      stdout += text;
      output += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code: code ?? signal, stdout, output }));
  });
}
