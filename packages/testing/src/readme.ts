import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import ts from "typescript";
import { expect } from "vitest";

const run = promisify(execFile);
const root = fileURLToPath(new URL("../../../", import.meta.url));

/**
 * Compiles the first `ts` block of a README under the repository's own strictness, runs it, and compares what it prints
 * with the first `text` block. Compiling takes seconds on a quiet machine: give the test minutes.
 *
 * @param readme `new URL("../README.md", import.meta.url)`.
 */
export async function checkReadmeExample(readme: URL): Promise<void> {
  const content = await readFile(readme, "utf8");
  const example = /```ts\n([\s\S]*?)```/.exec(content)?.[1];
  const printed = /```text\n([\s\S]*?)```/.exec(content)?.[1];
  if (example === undefined || printed === undefined)
    throw new Error(`${readme.pathname} has no ts block or no text block`);
  // Inside the package, so that its dependencies are found.
  const folder = await mkdtemp(fileURLToPath(new URL("./test/readme-", readme)));
  try {
    const file = join(folder, "example.ts");
    await writeFile(file, example);
    expect(faultsOf(file)).toEqual([]);
    const loader = new URL("../run/typescript-loader.mjs", import.meta.url).href;
    const { stdout } = await run(process.execPath, ["--import", loader, file]);
    expect(stdout).toBe(printed);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function faultsOf(file: string): string[] {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [], files: [file] }, ts.sys, root);
  const program = ts.createProgram([file], { ...options, incremental: false, composite: false, noEmit: true });
  const source = program.getSourceFile(file);
  const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
  return found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n"));
}
