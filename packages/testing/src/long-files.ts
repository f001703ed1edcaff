// Which test files the long suite runs: those named for it, and those whose counts grow in it.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const growing = /import\s*(?:type\s*)?\{[^}]*\b(?:runs|long)\b[^}]*\}\s*from\s*"@toolhaft\/testing"/;
const relativeImport = /(?:from|import)\s*\(?\s*"(\.{1,2}\/[^"]+\.ts)"/g;

/** Paths relative to the package: `*.long.test.ts`, and tests that take `runs` or `long` from testing, also through a file beside them. */
export function longTestFiles(packageFolder: string): string[] {
  const folder = join(packageFolder, "test");
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((file) => file.endsWith(".test.ts"))
    .filter((file) => file.endsWith(".long.test.ts") || grows(file, folder, new Set()))
    .map((file) => relative(packageFolder, file).replaceAll("\\", "/"))
    .sort();
}

function grows(file: string, folder: string, seen: Set<string>): boolean {
  if (seen.has(file) || !file.startsWith(folder) || !existsSync(file)) return false;
  seen.add(file);
  const text = readFileSync(file, "utf8");
  if (growing.test(text)) return true;
  return [...text.matchAll(relativeImport)].some(([, path = ""]) => grows(resolve(dirname(file), path), folder, seen));
}
