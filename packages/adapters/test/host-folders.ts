import { spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../hosts/", import.meta.url));
const root = fileURLToPath(new URL("../../../", import.meta.url));

/** A host too heavy for every installation: it has a folder of its own, with exact versions and a lock file. */
export interface HostFolder {
  name: string;
  /** What is installed there, as `name@version, …`. */
  packages: string;
}

export function hostFolders(): HostFolder[] {
  return readdirSync(folder)
    .filter((name) => existsSync(join(folder, name, "package.json")))
    .sort()
    .map((name) => {
      const manifest: { dependencies: Record<string, string> } = JSON.parse(
        readFileSync(join(folder, name, "package.json"), "utf8"),
      );
      return {
        name,
        packages: Object.entries(manifest.dependencies)
          .map(([dependency, version]) => `${dependency}@${version}`)
          .join(", "),
      };
    });
}

/** Installs what the folder's lock file names; gives the reason when it cannot. */
export async function installHost(name: string): Promise<string | undefined> {
  const pnpm = fileURLToPath(new URL("../../../node_modules/pnpm/bin/pnpm.cjs", import.meta.url));
  const words = ["install", "--ignore-workspace", "--frozen-lockfile", "--prefer-offline", "--ignore-scripts"];
  const { code, output } = await run([pnpm, ...words], join(folder, name));
  return code === 0 ? undefined : output.split("\n").slice(-5).join(" ").trim();
}

interface Assertion {
  status: string;
  fullName: string;
  failureMessages: readonly string[];
}

export interface HostReport {
  passed: number;
  failures: readonly string[];
}

/** The conformance suite, and what else a host's folder has to test, in a process that sees this host's libraries only. */
export async function testHost(name: string): Promise<HostReport> {
  const reports = mkdtempSync(join(tmpdir(), "toolhaft-host-"));
  try {
    const file = join(reports, "report.json");
    const vitest = join(root, "node_modules/vitest/vitest.mjs");
    const words = ["run", "--config", join(folder, "vitest.config.ts"), "--silent", "--reporter=json"];
    const { output } = await run([vitest, ...words, `--outputFile=${file}`], root, { TOOLHAFT_HOST: name });
    if (!existsSync(file)) return { passed: 0, failures: [output.slice(-2_000)] };
    const report: {
      numPassedTests: number;
      testResults: readonly { message: string; assertionResults: readonly Assertion[] }[];
    } = JSON.parse(readFileSync(file, "utf8"));
    const failures = report.testResults.flatMap(({ message, assertionResults }) => [
      ...(message === "" ? [] : [message]),
      ...assertionResults
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages }) => `${fullName}\n${failureMessages.join("\n")}`),
    ]);
    return { passed: report.numPassedTests, failures };
  } finally {
    rmSync(reports, { recursive: true, force: true });
  }
}

/** The programs in examples/ that stand on a host's own libraries, by folder. */
const examples: Readonly<Record<string, string>> = { opencode: "opencode-plugin" };

/** The repository's paths; a class that adapter and host both name is the host's copy, as it is where there is only one. */
function pathsFor(name: string): Record<string, string[]> {
  const settings: { compilerOptions: { paths: Record<string, string[]> } } = JSON.parse(
    readFileSync(join(root, "tsconfig.json"), "utf8"),
  );
  const paths: Record<string, string[]> = {};
  for (const [from, to] of Object.entries(settings.compilerOptions.paths))
    paths[from] = to.map((path) => join(root, path));
  const server = join(folder, name, "node_modules/@modelcontextprotocol/sdk/dist/esm/server/mcp.d.ts");
  if (existsSync(server)) paths["@modelcontextprotocol/sdk/server/mcp.js"] = [server];
  return paths;
}

/** What TypeScript says of the host's example against the host's own types; nothing when it is sound, or there is none. */
export async function exampleFaults(name: string): Promise<string> {
  const example = join(root, "examples", examples[name] ?? name, "main.ts");
  if (!existsSync(example)) return "";
  // Beside the host's libraries, for imports are looked for from where a file lies.
  const beside = mkdtempSync(join(folder, name, "types-"));
  try {
    copyFileSync(example, join(beside, "main.ts"));
    const compilerOptions = { incremental: false, tsBuildInfoFile: null, skipLibCheck: true, paths: pathsFor(name) };
    const project = { extends: join(root, "tsconfig.json"), compilerOptions, include: [], files: ["main.ts"] };
    writeFileSync(join(beside, "tsconfig.json"), JSON.stringify(project));
    const compiler = join(root, "node_modules/typescript-7/bin/tsc");
    const { code, output } = await run([compiler, "--noEmit", "-p", join(beside, "tsconfig.json")], root);
    if (code === 0) return "";
    if (!output.includes("error TS")) return output;
    // The adapter's own source does not see the host from where it lies; it is checked with the rest of the repository.
    return output
      .split("\n")
      .filter((line) => line.includes("main.ts("))
      .join("\n");
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

function run(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, words, {
      cwd,
      // A test run inside a test run must not take itself for one of its workers.
      env: { ...withoutVitest(process.env), ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output = (output + text).slice(-100_000);
      });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, output }));
  });
}

function withoutVitest(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("VITEST") && name !== "NODE_ENV"));
}
