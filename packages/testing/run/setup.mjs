// What `npm start`, `npm test` and `.ci/run` share: from a fresh clone with Node and npm alone to built packages.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
const manifest = readJson(join(root, "package.json"));

/** Ends the program with one line when this Node is too old to run anything here. */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  console.error(`Node 20.19 or newer is needed; this is ${process.version}.`);
  process.exit(1);
}

/** Installs what the lock file names. pnpm comes through npx the first time, afterwards from node_modules. */
export function install() {
  try {
    step("install", () => pnpm(["install", "--frozen-lockfile", "--prefer-offline"]));
  } catch (error) {
    const hint = "the lines above say why; where the package registry cannot be reached, set npm's registry or proxy";
    throw new Error(`${error.message}: ${hint}`, { cause: error });
  }
}

/** Builds every package whose sources, or whose dependencies, changed since its last build. */
export function build() {
  const stale = staleBuilds();
  if (stale.length === 0) return console.log("== build: up to date");
  step(`build ${stale.map(({ folder }) => folder).join(" ")}`, () => {
    const filters = stale.flatMap(({ name }) => ["--filter", name]);
    pnpm(["-r", "--workspace-concurrency=2", ...filters, "run", "build"]);
  });
  for (const { stampFile, stamp } of stale) writeFileSync(stampFile, stamp);
}

/** Every package under packages/, with its manifest. */
export function workspacePackages() {
  return readdirSync(join(root, "packages"))
    .map((folder) => ({ folder, path: join(root, "packages", folder) }))
    .filter(({ path }) => existsSync(join(path, "package.json")))
    .map((entry) => ({ ...entry, manifest: readJson(join(entry.path, "package.json")) }))
    .map((entry) => ({ ...entry, name: entry.manifest.name }));
}

/** Runs pnpm with the given words; throws when it fails. */
export function pnpm(words, options = {}) {
  const [command, first] = pnpmCommand();
  run(command, [...first, ...words], options);
}

/** The command and first words that start pnpm on a machine that may have npm only. */
export function pnpmCommand() {
  const local = join(root, "node_modules/pnpm/bin/pnpm.cjs");
  if (existsSync(local)) return [process.execPath, [local]];
  return [process.platform === "win32" ? "npx.cmd" : "npx", ["-y", `pnpm@${manifest.devDependencies.pnpm}`]];
}

/** Prints what is done and how long it took. */
export function step(name, work) {
  console.log(`== ${name}`);
  const start = Date.now();
  const given = work();
  console.log(`== ${name}: ${((Date.now() - start) / 1_000).toFixed(1)} s`);
  return given;
}

export function run(command, words, options = {}) {
  const { status, signal, error } = spawnSync(command, words, { cwd: root, stdio: "inherit", ...options });
  if (error !== undefined) throw error;
  if (status !== 0) throw new Error(`${command} ${words.join(" ")} ended with ${signal ?? status}`);
}

/** Ends the program with a failure's message instead of a stack nobody can use. */
export function orExit(work) {
  try {
    return work();
  } catch (error) {
    console.error(`FAILED ${error.message}`);
    return process.exit(1);
  }
}

function staleBuilds() {
  const all = workspacePackages().filter(({ manifest }) => manifest.scripts?.build !== undefined);
  const byName = new Map(all.map((entry) => [entry.name, entry]));
  const stamps = new Map();
  const stampOf = (entry) => {
    const known = stamps.get(entry.name);
    if (known !== undefined) return known;
    stamps.set(entry.name, "");
    const below = Object.keys({
      ...entry.manifest.dependencies,
      ...entry.manifest.devDependencies,
      ...entry.manifest.peerDependencies,
    })
      .filter((name) => byName.has(name))
      .sort()
      .map((name) => stampOf(byName.get(name)));
    const stamp = hashOf(entry.path, below);
    stamps.set(entry.name, stamp);
    return stamp;
  };
  const folder = join(root, "node_modules/.cache/toolhaft-build");
  mkdirSync(folder, { recursive: true });
  return all
    .map((entry) => ({ ...entry, stamp: stampOf(entry), stampFile: join(folder, entry.folder) }))
    .filter(({ path, stamp, stampFile }) => {
      return !(existsSync(join(path, "dist")) && existsSync(stampFile) && readFileSync(stampFile, "utf8") === stamp);
    });
}

/** One hash over everything a package's build reads. */
function hashOf(path, below) {
  const hash = createHash("sha256");
  for (const text of below) hash.update(text);
  for (const file of ["package.json", "tsconfig.json", "tsup.config.ts", "../../tsconfig.base.json"]) {
    if (existsSync(join(path, file))) hash.update(file).update(readFileSync(join(path, file)));
  }
  for (const folder of ["src", "scripts", "build"]) {
    for (const file of filesUnder(join(path, folder))) hash.update(file).update(readFileSync(file));
  }
  return hash.digest("hex");
}

function filesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => statSync(file).isFile())
    .sort();
}

function readJson(file) {
  return JSON.parse(readFileSync(file, "utf8"));
}
