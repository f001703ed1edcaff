// The checks that are no vitest tests: each counts as one test, and its output is shown when it fails.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runConsumers } from "./consumer.mjs";
import { namesIn, overBudget, pack, publishedPackages, run, weigh } from "./pack.mjs";
import { runQueue } from "./queue.mjs";
import { pnpmCommand, root } from "./setup.mjs";

/** Runs all checks, two at a time, and gives the counts. */
export async function runChecks() {
  const packed = mkdtempSync(join(tmpdir(), "toolhaft-pack-"));
  try {
    const published = publishedPackages();
    const queue = [
      { name: "biome", work: () => exec("biome", "check", ".") },
      { name: "tsc", work: () => exec("tsc", "--noEmit", "-p", "tsconfig.json") },
      { name: "knip", work: () => exec("knip", "--no-progress") },
      { name: "API reference", work: checkDocs },
      ...published.map((entry) => ({
        name: `pack ${entry.name}`,
        work: () => checkPacked(entry, join(packed, entry.folder)),
      })),
    ];
    const parts = [await runQueue(queue), await runConsumers({ packages: ["core"] })];
    return {
      passed: parts.reduce((sum, { passed }) => sum + passed, 0),
      failed: parts.flatMap(({ failed }) => failed),
      skipped: parts.flatMap(({ skipped }) => skipped),
    };
  } finally {
    rmSync(packed, { recursive: true, force: true });
  }
}

async function checkDocs() {
  const { makeDocs } = await import("./docs.mjs");
  const warnings = await makeDocs();
  return warnings.length === 0 ? undefined : warnings.join("\n");
}

/** The file npm would get: complete, without sources, importable by its own exports, with types that resolve. */
async function checkPacked(entry, destination) {
  const { manifest } = entry;
  const { file: filename, problem } = await pack(entry, destination);
  if (problem !== undefined) return problem;
  const { publint } = await import("publint");
  const { formatMessage } = await import("publint/utils");
  const bytes = readFileSync(filename);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength);
  const { messages } = await publint({ pack: { tarball }, strict: true });
  const problems = messages.map((message) => `publint: ${formatMessage(message, manifest)}`);
  const names = namesIn(filename);
  for (const name of ["README.md", "LICENSE"])
    if (!names.includes(name)) problems.push(`the packed file lacks ${name}`);
  for (const name of names) if (/^(src|test|bench)\//.test(name)) problems.push(`the packed file holds ${name}`);
  if (manifest.engines?.node === undefined) problems.push('"engines.node" is missing');
  problems.push(...overBudget(entry.name, weigh(filename)));
  const types = await exec("attw", filename, "--profile", "esm-only", "--no-color", "--no-emoji");
  if (types !== undefined) problems.push(types);
  return problems.length === 0 ? undefined : problems.join("\n");
}

/** Runs a development tool of the root; gives its output when it fails. */
async function exec(...words) {
  const { code, output } = await run(pnpmCommand(), ["exec", ...words], root);
  return code === 0 ? undefined : `${output}\n(${words.join(" ")} ended with ${code})`;
}
