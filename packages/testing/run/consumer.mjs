// Each package as its users get it: packed, installed alone into an empty project, imported, required, compiled against,
// and its README's example run. `node packages/testing/run/consumer.mjs [packages…]` runs it by hand after a build;
// with `--budgets` it only weighs them, and writes that into budgets.json.
import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";
import { node22, sqliteFor22 } from "../src/install-programs.mjs";
import { overBudget, pack, publishedPackages, run, weigh, writeBudgets } from "./pack.mjs";
import { runQueue } from "./queue.mjs";
import { pnpmCommand, root } from "./setup.mjs";

/**
 * One check per package named (all without a name), and with `whole` those of everything together under npm.
 *
 * @param packages Folder names under packages/.
 * @param newest Whether Node 22 is tried beside this Node.
 * @param budgets Is filled with what each package weighs; nothing else is tried then.
 */
export async function runConsumers({ packages, whole = false, newest = whole, budgets } = {}) {
  const home = mkdtempSync(join(tmpdir(), "toolhaft-consumer-"));
  try {
    const published = publishedPackages();
    const files = new Map();
    const packing = await runQueue(
      published
        .filter(({ name }) => packages === undefined || neededBy(packages, published).has(name))
        .map((entry) => ({
          name: `packed ${entry.name}`,
          work: async () => {
            const { file, problem } = await pack(entry, join(home, "packed", entry.folder));
            if (problem !== undefined) return problem;
            files.set(entry.name, file);
          },
        })),
    );
    if (packing.failed.length > 0) return packing;
    const newer = newest ? await node22() : {};
    const setting = { home, files, published, newer, budgets };
    return await runQueue([
      ...(whole ? [{ name: "everything under npm", work: () => wholeHouse(setting) }] : []),
      ...published
        .filter(({ folder }) => packages === undefined || packages.includes(folder))
        .map((entry) => ({ name: `consumer of ${entry.name}`, work: () => consume(entry, setting) })),
    ]);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** The packages named and, from their manifests and their READMEs' install lines, all that come with them. */
function neededBy(folders, published) {
  const byName = new Map(published.map((entry) => [entry.name, entry]));
  const needed = new Set();
  const add = (name) => {
    const entry = byName.get(name);
    if (entry === undefined || needed.has(name)) return;
    needed.add(name);
    for (const next of [...Object.keys(entry.manifest.dependencies ?? {}), ...installLine(entry)]) add(next);
  };
  for (const { folder, name } of published) if (folders.includes(folder)) add(name);
  return needed;
}

/** What a README says to install. */
function installLine({ name, path }) {
  const line = /^npm install (?!-g)(.+)$/m.exec(readFileSync(join(path, "README.md"), "utf8"))?.[1];
  return line === undefined ? [name] : line.replace(/#.*/, "").trim().split(/\s+/);
}

async function consume(entry, { home, files, newer, budgets }) {
  const folder = join(home, "alone", entry.folder);
  const project = manifestOf(entry, files, installLine(entry));
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), JSON.stringify(project));
  const { code, output } = await run(pnpmCommand(), ["install", "--prefer-offline", "--ignore-workspace"], folder);
  if (code !== 0) return unreachable(output) ?? output;
  const installed = bytesUnder(join(folder, "node_modules"));
  if (budgets !== undefined) {
    budgets[entry.name] = { ...weigh(files.get(entry.name)), installed };
    return undefined;
  }
  const nodes = [process.execPath, ...(newer.command === undefined ? [] : [newer.command])];
  const example = writeExample(entry, folder);
  const problems = overBudget(entry.name, { installed });
  problems.push(...(await importAll(entry, folder, nodes)), ...(await compile(entry, folder, example)));
  if (example !== undefined) problems.push(...(await runExample(example, folder, nodes)));
  if (problems.length > 0) return problems.join("\n");
  return newer.problem === undefined ? undefined : { skipped: `passed on ${process.version} alone: ${newer.problem}` };
}

function manifestOf({ manifest }, files, names) {
  const known = { ...manifest.peerDependencies, ...manifest.devDependencies };
  return {
    private: true,
    type: "module",
    dependencies: Object.fromEntries(
      names.map((name) => [name, files.has(name) ? `file:${files.get(name)}` : (known[name] ?? "latest")]),
    ),
    pnpm: {
      overrides: Object.fromEntries([...files].map(([name, file]) => [name, `file:${file}`])),
      onlyBuiltDependencies: ["better-sqlite3"],
    },
  };
}

/** Installations need the registry; where it cannot be reached, that is said and counted, and is no fault of a package. */
function unreachable(output) {
  const reason = /^.*(?:ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|META_FETCH_FAIL).*$/m.exec(output)?.[0];
  return reason === undefined ? undefined : { skipped: `cannot be installed: ${reason.trim()}` };
}

/** Names that a program imports: the package and its subpaths, without those that are no modules. */
function modulesOf({ name, manifest }) {
  return Object.keys(manifest.exports ?? {})
    .filter((path) => !path.endsWith(".json"))
    .map((path) => name + path.slice(1));
}

/** ESM import and CJS require of every subpath give the same names and leave nothing running, on each Node. */
async function importAll(entry, folder, nodes) {
  const modules = modulesOf(entry);
  const optional = Object.keys(entry.manifest.peerDependencies ?? {});
  const program = `
const shown = {};
for (const name of ${JSON.stringify(modules)}) {
  try {
    shown[name] = Object.keys(LOAD).filter((key) => key !== "__esModule" && key !== "module.exports").sort();
  } catch (error) {
    shown[name] = error.message;
  }
}
console.log(JSON.stringify(shown));`;
  writeFileSync(join(folder, "import.mjs"), program.replace("LOAD", "await import(name)"));
  writeFileSync(join(folder, "require.cjs"), program.replace("LOAD", "require(name)"));
  const problems = [];
  for (const node of nodes) {
    const given = [];
    for (const file of ["import.mjs", "require.cjs"]) {
      const { code, stdout, output } = await run([node], [file], folder);
      if (code !== 0) problems.push(`${node} ${file} ended with ${code}: ${output}`);
      else given.push(JSON.parse(stdout));
    }
    const [imported = {}, required = {}] = given;
    for (const name of modules) {
      const names = imported[name];
      if (typeof names === "string") {
        if (!optional.some((peer) => names.includes(`'${peer}'`))) problems.push(`import of ${name}: ${names}`);
      } else if (names?.length === 0) problems.push(`${name} exports nothing`);
      else if (JSON.stringify(names) !== JSON.stringify(required[name]))
        problems.push(`require of ${name} on ${node}: ${JSON.stringify(required[name])}`);
    }
  }
  return problems;
}

const settings = [
  { module: "node16", moduleResolution: "node16" },
  { module: "nodenext", moduleResolution: "nodenext" },
  { module: "esnext", moduleResolution: "bundler" },
];

/** The types of every subpath, checked without sparing ours, and the example: as Node 16, as Node's newest, for a bundler. */
async function compile(entry, folder, example) {
  const modules = modulesOf(entry);
  const optional = Object.keys(entry.manifest.peerDependencies ?? {});
  const imports = modules.map(
    (name, at) => `import * as m${at} from "${name}";\nexport const k${at}: object = m${at};`,
  );
  writeFileSync(join(folder, "types.ts"), `${imports.join("\n")}\nexport {};\n`);
  const required = modules.map(
    (name, at) => `import m${at} = require("${name}");\nexport const k${at}: object = m${at};`,
  );
  writeFileSync(join(folder, "types-required.cts"), `${required.join("\n")}\nexport {};\n`);
  const problems = [];
  for (const options of settings) {
    const name = `tsconfig.${options.module}.json`;
    const files = ["types.ts", ...(example === undefined ? [] : ["example.ts"])];
    if (options.module === "nodenext") files.push("types-required.cts");
    const compilerOptions = {
      ...options,
      target: "es2023",
      lib: ["es2023", "esnext.disposable", "dom", "dom.asynciterable"],
      strict: true,
      noEmit: true,
      exactOptionalPropertyTypes: true,
      skipLibCheck: false,
      typeRoots: [join(root, "node_modules/@types")],
      types: ["node"],
    };
    writeFileSync(join(folder, name), JSON.stringify({ compilerOptions, files }));
    const { output } = await run(
      [process.execPath, join(root, "node_modules/typescript-7/bin/tsc")],
      ["-p", name, "--pretty", "false"],
      folder,
    );
    const faults = output
      .split("\n")
      .filter((line) => /^(?:(?!node_modules)[^ ]|.*node_modules\/(?:@toolhaft\/[^/]+|toolhaft)\/dist\/)/.test(line))
      .filter((line) => !optional.some((peer) => line.includes(`'${peer}'`) || line.includes(`'${peer}/`)));
    problems.push(...faults.map((line) => `${name}: ${line}`));
  }
  return problems;
}

/** The README's first program and what it says it prints; nothing where a README has none, or its program wants a model. */
function writeExample({ path }, folder) {
  const readme = readFileSync(join(path, "README.md"), "utf8");
  const program = /```ts\n([\s\S]*?)```/.exec(readme)?.[1];
  const printed = /```text\n([\s\S]*?)```/.exec(readme)?.[1];
  if (program === undefined || printed === undefined) return undefined;
  writeFileSync(join(folder, "example.ts"), program);
  const { outputText } = ts.transpileModule(program, {
    compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true },
  });
  writeFileSync(join(folder, "example.mjs"), outputText);
  return { printed };
}

async function runExample({ printed }, folder, nodes) {
  const problems = [];
  for (const node of nodes) {
    const { code, stdout, output } = await run([node], ["example.mjs"], folder);
    if (code !== 0 || stdout !== printed) problems.push(`README's example on ${node} ended with ${code}:\n${output}`);
    rmSync(join(folder, ".toolhaft"), { recursive: true, force: true });
  }
  return problems;
}

/** A call of each family: its tool, its input, and how it ends where SQLite has no driver and where it has one. */
const calls = [
  ["hashline_read", { filePath: "README.md" }, 0, 0],
  ["lsp_servers", {}, 0, 0],
  ["asset_search", { query: "anything" }, 0, 0],
  ["context_assemble", { topic: "sales" }, 0, 0],
  ["agent_list", {}, 3, 0],
  ["web_fetch", { url: "http://127.0.0.1:8080/" }, 4, 4],
  ["memory_write", { title: "Port", content: "PostgreSQL listens on 6432" }, 3, 0],
  ["memory_recall", { query: "postgres port" }, 3, 0],
  ["session_list", {}, 0, 0],
  ["task_post", { title: "Count the words", body: "All of README.md" }, 3, 0],
  ["task_search", { query: "words" }, 3, 0],
  ["function_state", {}, 3, 0],
];

/**
 * All packages in one project, installed by npm without scripts: the native binding is not built then, which Node 20 has to
 * say, and Node 22 has to do without; built for Node 22 it is used there.
 */
async function wholeHouse({ home, files, newer }) {
  const folder = join(home, "whole");
  mkdirSync(folder, { recursive: true });
  const dependencies = Object.fromEntries([...files].map(([name, file]) => [name, `file:${file}`]));
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }));
  const npm = [process.platform === "win32" ? "npm.cmd" : "npm"];
  const words = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline"];
  const { code, output } = await run(npm, words, folder);
  if (code !== 0) return unreachable(output) ?? output;
  const problems = await smoke(folder, process.execPath, { driver: undefined });
  if (newer.command === undefined) return finish(problems, `Node 22: ${newer.problem}`);
  problems.push(...(await smoke(folder, newer.command, { driver: "node:sqlite" })));
  const binding = join(folder, "node_modules/better-sqlite3");
  const { version } = JSON.parse(readFileSync(join(binding, "package.json"), "utf8"));
  const built = await sqliteFor22(version);
  if (built.file === undefined) return finish(problems, `better-sqlite3 on Node 22: ${built.problem}`);
  mkdirSync(join(binding, "build/Release"), { recursive: true });
  copyFileSync(built.file, join(binding, "build/Release/better_sqlite3.node"));
  problems.push(...(await smoke(folder, newer.command, { driver: "better-sqlite3" })));
  return finish(problems);
}

function finish(problems, skipped) {
  if (problems.length > 0) return problems.join("\n");
  return skipped === undefined ? undefined : { skipped };
}

/** The command by hand, a call of every family, and a server that answers, all from the installed files. */
async function smoke(folder, node, { driver }) {
  const place = mkdtempSync(join(folder, "place-"));
  writeFileSync(join(place, "README.md"), "# Sales\n");
  const env = { ...process.env, HOME: join(place, "home"), NO_COLOR: "1" };
  const bin = join(folder, "node_modules/toolhaft/dist/bin.js");
  const problems = [];
  const toolhaft = async (words, expected, wanted = "") => {
    const { code, output } = await run([node], [bin, ...words], place, env);
    if (code !== expected || !output.includes(wanted))
      problems.push(
        `${node} toolhaft ${words.join(" ")} ended with ${code}, not ${expected} and "${wanted}":\n${output}`,
      );
  };
  await toolhaft(["--version"], 0, driver ?? "no SQLite driver");
  await toolhaft(["list", "all"], 0, "hashline_edit");
  await toolhaft(["doctor"], driver === undefined ? 1 : 0, driver ?? "install script was not run");
  for (const [tool, input, without, having] of calls) {
    const expected = driver === undefined ? without : having;
    const wanted = expected === 3 ? "install script was not run" : "";
    await toolhaft(["call", tool, JSON.stringify(input)], expected, wanted);
  }
  const lines = [
    {
      id: 1,
      method: "initialize",
      params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "a", version: "1" } },
    },
    { method: "notifications/initialized" },
    { id: 2, method: "tools/list" },
  ];
  const { stdout, output } = await run([node], [bin, "mcp", "all"], place, env, {
    lines: lines.map((line) => JSON.stringify({ jsonrpc: "2.0", ...line })),
    until: '"id":2',
  });
  if (!stdout.includes('"hashline_edit"')) problems.push(`${node} toolhaft mcp lists no tools:\n${output}`);
  return problems;
}

/** What an installation takes on disk; links are not followed, so that each file counts once. */
function bytesUnder(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + lstatSync(join(entry.parentPath, entry.name)).size, 0);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const words = process.argv.slice(2);
  const packages = words.filter((word) => !word.startsWith("--"));
  const budgets = words.includes("--budgets") ? {} : undefined;
  const chosen = packages.length === 0 ? {} : { packages };
  const { failed } = await runConsumers({
    ...chosen,
    whole: words.includes("--whole"),
    newest: budgets === undefined,
    budgets,
  });
  if (budgets !== undefined) writeBudgets(budgets);
  process.exitCode = failed.length > 0 ? 1 : 0;
}
