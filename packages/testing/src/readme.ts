import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Compiles the first `ts` block of a README under the repository's own strictness, runs it, and compares what it prints
 * with the first `text` block.
 *
 * @param readme `new URL("../README.md", import.meta.url)`.
 * @param options Where it runs; an example that keeps a file needs a folder of its own.
 */
export async function checkReadmeExample(readme: URL, options: { cwd?: string } = {}): Promise<void> {
  const content = await readFile(readme, "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(content)?.[1];
  const printed = /```text\n([\s\S]*?)```/.exec(content)?.[1];
  if (example === undefined || printed === undefined)
    throw new Error(`${readme.pathname} has no ts block or no text block`);
  expect(await runExample(example, new URL("./test/", readme), options)).toBe(printed);
}

/**
 * Compiles a program under the repository's own strictness, runs it and gives what it prints.
 *
 * @param beside A folder from which its imports are found; it lies in one of its own there, gone afterwards.
 * @param options Where it runs, a module that is loaded before it, and what it reads: its input ends after that.
 */
export async function runExample(
  program: string,
  beside: URL,
  options: { cwd?: string; preload?: URL; input?: string } = {},
): Promise<string> {
  const folder = await mkdtemp(fileURLToPath(new URL("./readme-", beside)));
  try {
    const file = join(folder, "example.ts");
    await writeFile(file, program);
    expect(await faultsOf(folder, file)).toBe("");
    const loaders = [new URL("../run/typescript-loader.mjs", import.meta.url), options.preload];
    const imports = loaders.flatMap((url) => (url === undefined ? [] : ["--import", url.href]));
    const running = run(process.execPath, [...imports, file], { cwd: options.cwd });
    running.child.stdin?.end(options.input);
    return (await running).stdout;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** What TypeScript says of the program; nothing when it is sound. */
async function faultsOf(folder: string, file: string): Promise<string> {
  const settings = {
    extends: join(root, "tsconfig.json"),
    compilerOptions: { incremental: false, tsBuildInfoFile: null },
    include: [],
    files: [file],
  };
  const project = join(folder, "tsconfig.json");
  await writeFile(project, JSON.stringify(settings));
  return run(process.execPath, [join(root, "node_modules/typescript-7/bin/tsc"), "--noEmit", "-p", project]).then(
    () => "",
    (error: { stdout?: string; stderr?: string; message: string }) => error.stdout || error.stderr || error.message,
  );
}
