// Runs the repository's own TypeScript: `node --import <this file> file.ts`, with `@toolhaft/*` read from sources.
// tsx is not used for benches: it compiles with `keepNames`, which adds a call to every closure that is made and so bends
// what is measured. TypeScript's own transpiler leaves the code as it is written.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { fileURLToPath } from "node:url";
import { isMainThread } from "node:worker_threads";

if (isMainThread) register(import.meta.url);

const packages = new URL("../../", import.meta.url);
const fromDist = process.env.TOOLHAFT_BENCH_DIST === "1";
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
  typescript ??= (await import("typescript")).default;
  const { ModuleKind, ScriptTarget } = typescript;
  const { outputText } = typescript.transpileModule(readFileSync(fileURLToPath(url), "utf8"), {
    fileName: fileURLToPath(url),
    compilerOptions: {
      module: ModuleKind.ESNext,
      target: ScriptTarget.ES2023,
      verbatimModuleSyntax: true,
      inlineSourceMap: true,
    },
  });
  return { format: "module", source: outputText, shortCircuit: true };
}
