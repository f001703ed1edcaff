import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { fileURLToPath } from "node:url";
import { childEnvironment, runProgram } from "@toolhaft/process";
import which from "which";
import { isInside, realPathOf } from "./uris.ts";

/** A program that may be the server. */
export interface Candidate {
  /** As found; what is started. */
  program: string;
  /** Whether the folder chose it: it lies in the workspace, or is reached through it. */
  byFolder: boolean;
}

/** Where to look from. All absolute. */
export interface SearchScope {
  /** The folders from the file's own up to the top of the worktree. */
  folders: readonly string[];
  /** What counts as "the folder's own". */
  roots: readonly string[];
  env: Readonly<Record<string, string | undefined>>;
}

const home = homedir();

/** Where version managers and package managers put programs, when the PATH does not say so. */
function toolFolders(env: SearchScope["env"]): string[] {
  return [
    join(env.CARGO_HOME ?? join(home, ".cargo"), "bin"),
    env.GOBIN ?? join(env.GOPATH ?? join(home, "go"), "bin"),
    join(home, ".dotnet", "tools"),
    join(home, ".local", "bin"),
    join(env.MISE_DATA_DIR ?? join(home, ".local", "share", "mise"), "shims"),
    join(env.ASDF_DATA_DIR ?? join(home, ".asdf"), "shims"),
    join(home, ".local", "share", "coursier", "bin"),
    join(home, ".ghcup", "bin"),
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/usr/local/bin",
  ];
}

/** The `node_modules/.bin` folders that belong to this package: what is installed beside it. */
function ownBinFolders(): string[] {
  const folders: string[] = [];
  for (let at = dirname(fileURLToPath(import.meta.url)); ; at = dirname(at)) {
    folders.push(join(at, "node_modules", ".bin"));
    if (basename(at) === "node_modules") folders.push(join(at, ".bin"));
    if (dirname(at) === at) return folders;
  }
}

/** All programs of this name, in the order of trial: the folder's, the PATH's, the tool managers', ours. */
export async function findPrograms(command: string, scope: SearchScope): Promise<Candidate[]> {
  if (isAbsolute(command)) return existsSync(command) ? [candidate(command, scope)] : [];
  if (/[\\/]/.test(command)) {
    const nearest = scope.folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
    return nearest === undefined ? [] : [candidate(nearest, scope)];
  }
  const local = scope.folders.flatMap((folder) => [
    join(folder, "node_modules", ".bin"),
    join(folder, ".venv", "bin"),
    join(folder, "venv", "bin"),
    join(folder, "vendor", "bin"),
  ]);
  if (process.platform === "win32") local.push(...scope.folders.map((folder) => join(folder, ".venv", "Scripts")));
  const { VIRTUAL_ENV } = scope.env;
  if (VIRTUAL_ENV) local.push(join(VIRTUAL_ENV, process.platform === "win32" ? "Scripts" : "bin"));
  const onPath = (scope.env.PATH ?? scope.env.Path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  const path = [...local, ...onPath, ...toolFolders(scope.env), ...ownBinFolders()].join(delimiter);
  const pathExt = scope.env.PATHEXT;
  const found = await which(command, { all: true, nothrow: true, path, ...(pathExt && { pathExt }) });
  const seen = new Set<string>();
  const candidates: Candidate[] = [];
  for (const program of found ?? []) {
    const real = realPathOf(program);
    if (seen.has(real)) continue;
    seen.add(real);
    candidates.push(candidate(program, scope));
  }
  return candidates;
}

function candidate(program: string, scope: SearchScope): Candidate {
  const real = realPathOf(program);
  // what is installed beside this package is ours, even where the package lies in the workspace
  const ours =
    ownBinFolders().some((folder) => isInside(folder, program)) &&
    !scope.folders.some((folder) => isInside(join(folder, "node_modules"), program));
  const byFolder = !ours && scope.roots.some((root) => isInside(root, program) || isInside(root, real));
  return { program, byFolder };
}

/** An installed npm package: its folder and version. */
export interface FoundPackage {
  folder: string;
  version: string;
  byFolder: boolean;
}

/** The package of this name nearest to the file. Reads, never runs. */
export function nearestPackage(name: string, scope: SearchScope): FoundPackage | undefined {
  for (const folder of scope.folders) {
    const found = packageAt(join(folder, "node_modules", name));
    if (found) return { ...found, byFolder: true };
  }
  return undefined;
}

/** The same package outside the folder: beside the server's program, then beside this package. */
export function packageBeside(name: string, program: string | undefined): FoundPackage | undefined {
  const starts = [program && dirname(program), program && realPathOf(program), dirname(fileURLToPath(import.meta.url))];
  for (const start of starts) {
    if (!start) continue;
    for (let at = start; ; at = dirname(at)) {
      const places = basename(at) === "node_modules" ? [join(at, name)] : [join(at, "node_modules", name)];
      for (const place of places) {
        const found = packageAt(place);
        if (found) return { ...found, byFolder: false };
      }
      if (dirname(at) === at) break;
    }
  }
  return undefined;
}

function packageAt(folder: string): { folder: string; version: string } | undefined {
  try {
    const { version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { version?: unknown };
    return typeof version === "string" ? { folder, version } : undefined;
  } catch {
    return undefined; // not there, or no package
  }
}

/** Whether a version is in a range of the forms `>=7`, `<6`, `5`. Only the first number counts. */
export function inRange(version: string, range: string): boolean {
  const match = /^(>=|<|)\s*(\d+)/.exec(range.trim());
  const major = Number.parseInt(version, 10);
  if (match === null || Number.isNaN(major)) return false;
  const wanted = Number(match[2]);
  if (match[1] === ">=") return major >= wanted;
  return match[1] === "<" ? major < wanted : major === wanted;
}

/** A link to `rustup` is no program yet: asked which program stands behind it, or why there is none. */
export async function behindRustup(program: string): Promise<{ program: string } | { refused: string } | undefined> {
  const real = realPathOf(program);
  if (basename(real) !== "rustup" || basename(program) === "rustup") return undefined;
  const result = await runProgram({
    command: real,
    args: ["which", basename(program)],
    cwd: dirname(real),
    env: childEnvironment(),
    timeoutMs: 10_000,
  });
  const path = result.stdout.trim();
  return result.code === 0 && path !== "" ? { program: path } : { refused: result.stderr.trim() };
}

/** The interpreter of the virtual environment nearest to the file. */
export function pythonOf(scope: SearchScope): string | undefined {
  const inside = process.platform === "win32" ? join("Scripts", "python.exe") : join("bin", "python");
  const { VIRTUAL_ENV } = scope.env;
  const places = [
    ...scope.folders.flatMap((folder) => [join(folder, ".venv", inside), join(folder, "venv", inside)]),
    ...(VIRTUAL_ENV ? [join(VIRTUAL_ENV, inside)] : []),
  ];
  return places.find((path) => existsSync(path));
}
