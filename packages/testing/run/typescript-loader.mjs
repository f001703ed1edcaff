// Runs the repository's own TypeScript: `node --import <this file> file.ts`, with `@toolhaft/*` read from sources.
// tsx is not used for benches: it compiles with `keepNames`, which adds a call to every closure that is made and so bends
// what is measured. TypeScript's own transpiler leaves the code as it is written.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

const packages = new URL("../../", import.meta.url);
const fromDist = process.env.TOOLHAFT_BENCH_DIST === "1";
const cache = fileURLToPath(new URL("../../../node_modules/.cache/toolhaft-typescript", import.meta.url));
let typescript;

export async function resolve(specifier, context, next) {
  const own = /^@toolhaft\/([^/]+)(?:\/(.+))?$/.exec(specifier);
  if (own && own[2] !== "package.json" && !(fromDist && own[1] !== "testing")) {
    return { url: new URL(`${own[1]}/src/${own[2] ?? "index"}.ts`, packages).href, shortCircuit: true };
  }
  return next(specifier, context);
}

export async function load(url, context, next) {
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return next(url, context);
  return { format: "module", source: await transpiled(fileURLToPath(url)), shortCircuit: true };
}

/** Kept by content: a second process with the same file needs no compiler. */
async function transpiled(file) {
  const text = readFileSync(file, "utf8");
  const kept = join(cache, `${createHash("sha256").update(`1 ${file}\n${text}`).digest("hex")}.mjs`);
  try {
    return readFileSync(kept, "utf8");
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
  }
  typescript ??= (await import("typescript")).default;
  const { ModuleKind, ScriptTarget } = typescript;
  const { outputText } = typescript.transpileModule(text, {
    fileName: file,
    compilerOptions: {
      module: ModuleKind.ESNext,
      target: ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  });
  // Written aside and renamed: two processes may do the same at once.
  const half = `${kept}.${process.pid}`;
  mkdirSync(cache, { recursive: true });
  writeFileSync(half, outputText);
  renameSync(half, kept);
  return outputText;
}
