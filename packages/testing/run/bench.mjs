// pnpm bench <family…> [--check] [--json] [--only <file>] [--dist] [-- flags]     pnpm bench --all
import { fork } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { formatReport } from "./bench-table.mjs";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const loader = new URL("./typescript-loader.mjs", import.meta.url).href;
const child = fileURLToPath(new URL("./bench-child.mjs", import.meta.url));
const usage =
  "usage: pnpm bench <family…> | --all  [--check] [--json] [--only <file>] [--dist] [-- flags for the bench]";

const given = process.argv.slice(2).filter((word, at) => !(at === 0 && word === "--"));
const cut = given.indexOf("--");
const flags = cut < 0 ? [] : given.slice(cut + 1);
const { values, positionals } = readArguments(cut < 0 ? given : given.slice(0, cut));
const known = readdirSync(packages).filter((name) => existsSync(`${packages}${name}/bench`));
const families = values.all ? known : positionals;
if (families.length === 0) stop(`no family named. There are: ${known.join(" ")}`);
for (const family of families)
  if (!known.includes(family)) stop(`no benches for "${family}". There are: ${known.join(" ")}`);

const reports = [];
let failed = 0;
for (const family of families) {
  for (const file of benchFiles(family)) {
    const report = await run(file);
    reports.push({ family, file: basename(file), ...report });
    failed += report.error === undefined ? 0 : 1;
  }
}
const missed = reports.flatMap(({ rows }) => rows.filter(({ ok }) => !ok)).length;
const command = `pnpm bench ${given.join(" ")}`;
if (values.json)
  console.log(JSON.stringify({ command, node: process.version, platform: process.platform, reports }, null, 2));
else
  for (const family of families)
    console.log(
      formatReport(
        family,
        reports.filter((report) => report.family === family),
      ),
    );
if (!values.json) console.log(`Measured on Node ${process.version}. Run again: ${command}`);
if (failed > 0 || (values.check && missed > 0)) {
  console.error(`${missed} targets missed, ${failed} bench files failed`);
  process.exitCode = 1;
}

function benchFiles(family) {
  const folder = `${packages}${family}/bench`;
  const files = readdirSync(folder).filter((name) => name.endsWith(".bench.ts") && name.includes(values.only ?? ""));
  if (files.length === 0)
    stop(`no *.bench.ts in packages/${family}/bench${values.only ? ` with "${values.only}" in its name` : ""}`);
  return files.sort().map((name) => `${folder}/${name}`);
}

/** Each file in a process of its own: what one leaves in memory does not slow the next. */
function run(file) {
  return new Promise((resolve) => {
    const worker = fork(child, [file, ...flags], {
      execArgv: ["--expose-gc", "--import", loader],
      stdio: ["ignore", 2, 2, "ipc"],
      env: { ...process.env, NODE_ENV: "production", ...(values.dist && { TOOLHAFT_BENCH_DIST: "1" }) },
    });
    let report;
    worker.on("message", (message) => {
      report = message;
    });
    worker.on("exit", (code, signal) => {
      const empty = { rows: [], tables: [], skipped: [], notes: [] };
      if (report === undefined || code !== 0)
        resolve({ ...empty, ...report, error: report?.error ?? `ended with ${signal ?? code}` });
      else resolve({ ...empty, ...report });
    });
  });
}

function readArguments(words) {
  const option = (type) => ({ type });
  try {
    return parseArgs({
      args: words,
      allowPositionals: true,
      options: {
        all: option("boolean"),
        check: option("boolean"),
        json: option("boolean"),
        dist: option("boolean"),
        only: option("string"),
      },
    });
  } catch (error) {
    return stop(error.message);
  }
}

function stop(message) {
  console.error(`${message}\n${usage}`);
  process.exit(2);
}
