import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type Bench, defineBench } from "@toolhaft/testing";
import ts from "typescript";

const packageFolder = fileURLToPath(new URL("../", import.meta.url));
const dist = join(packageFolder, "dist");
const core = fileURLToPath(new URL("../../core/dist/index.js", import.meta.url));

/** A subpath, what it is measured against, and where that is found; without a host it is measured against core. */
const hosts: readonly { subpath: string; host?: string; folder?: string }[] = [
  { subpath: "ai-sdk", host: "ai" },
  { subpath: "anthropic", host: "@anthropic-ai/sdk" },
  { subpath: "openai", host: "openai" },
  { subpath: "claude-agent-sdk", host: "@anthropic-ai/claude-agent-sdk", folder: "claude-agent-sdk" },
  { subpath: "genkit", host: "genkit", folder: "genkit" },
  { subpath: "llamaindex", host: "llamaindex", folder: "llamaindex" },
  { subpath: "openai-agents", host: "@openai/agents", folder: "openai-agents" },
  { subpath: "opencode", host: "@opencode-ai/plugin/tool", folder: "opencode" },
  { subpath: "tanstack-ai", host: "@tanstack/ai", folder: "tanstack-ai" },
  { subpath: "google" },
  { subpath: "standard" },
];

/** What an import and an installation of each subpath cost beside its host alone, and what all tools cost the compiler. */
export default defineBench(async (bench) => {
  if (!existsSync(dist) || !existsSync(core)) {
    bench.skip("import and size", "packages/adapters is not built: run npm run build");
    return;
  }
  for (const { subpath, host, folder } of hosts) {
    const from = folder === undefined ? packageFolder : join(packageFolder, "hosts", folder);
    if (folder !== undefined && !existsSync(join(from, "node_modules"))) {
      bench.skip(`import of /${subpath}`, `${host} is installed by the long suite alone: run npm run test:long`);
      continue;
    }
    const alone = host === undefined ? core : resolveFrom(from, host);
    const adapter = join(dist, `${subpath}.js`);
    // Core is in every program that has tools; the host is what the adapter must not weigh against.
    const [withAdapter = Number.NaN, without = Number.NaN] = importTimes([
      [core, alone, adapter],
      [core, alone],
    ]);
    bench.figure({
      name: `import of /${subpath}`,
      ours: withAdapter,
      baseline: { name: host ?? "@toolhaft/core", value: without },
      unit: "ms",
      target: { max: 1.1 },
    });
  }
  bench.skip(
    "import of /langchain, /mastra",
    "the built file finds its host in a program that has both installed alone",
  );
  sizes(bench);
  instantiations(bench);
});

/** Least CPU milliseconds that a fresh process takes to import modules, of several processes taken in turns. */
function importTimes(modules: readonly (readonly string[])[]): number[] {
  const best = modules.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 7; round++) {
    modules.forEach((files, index) => {
      const imports = files.map((file) => `await import(${JSON.stringify(pathToFileURL(file).href)});`).join("");
      const script = `const start = process.cpuUsage(); ${imports} const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000); process.exit(0)`;
      const taken = Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
      best[index] = Math.min(best[index] ?? taken, taken);
    });
  }
  return best;
}

/** By the `import` condition, as a program would. */
function resolveFrom(folder: string, specifier: string): string {
  const script = `console.log(import.meta.resolve(${JSON.stringify(specifier)}))`;
  const url = execFileSync(process.execPath, ["--input-type=module", "-e", script], { cwd: folder, encoding: "utf8" });
  return fileURLToPath(url.trim());
}

/** A subpath with the shared files it imports. */
function sizes(bench: Bench): void {
  const closure = (file: string, seen: Set<string>): Set<string> => {
    if (seen.has(file)) return seen;
    seen.add(file);
    for (const [, next = ""] of readFileSync(join(dist, file), "utf8").matchAll(/from\s*"\.\/([^"]+)"/g))
      closure(next, seen);
    return seen;
  };
  const size = (files: Iterable<string>) => [...files].reduce((sum, file) => sum + statSync(join(dist, file)).size, 0);
  const subpaths = readdirSync(dist).filter((name) => name.endsWith(".js") && !name.startsWith("chunk-"));
  bench.table(
    "bytes of JavaScript, with what it shares",
    ["subpath", "bytes"],
    subpaths.map((name) => [name.replace(".js", ""), size(closure(name, new Set()))]),
  );
  bench.table(
    "bytes of the whole package, with types",
    ["files", "bytes"],
    [[readdirSync(dist).length, size(readdirSync(dist))]],
  );
}

/** types-1: all tools through an adapter beside five written by hand. */
function instantiations(bench: Bench): void {
  const families = ["hashline", "memory", "session", "web"].filter((name) =>
    existsSync(fileURLToPath(new URL(`../../${name}/dist/index.d.ts`, import.meta.url))),
  );
  if (families.length < 4 || !existsSync(join(dist, "ai-sdk.d.ts"))) {
    bench.skip("type instantiations", "the families' types are not built: run npm run build");
    return;
  }
  const makers = ["createHashline", "createMemory", "createSessions", "createWeb"];
  const ours = [
    'import { generateText } from "ai";',
    'import { toolset } from "../../core/dist/index.js";',
    'import { toAiSdk } from "../dist/ai-sdk.js";',
    ...families.map((name, index) => `import { ${makers[index]} } from "../../${name}/dist/index.js";`),
    `await generateText({ model: "m", prompt: "p", tools: toAiSdk(toolset(${makers.map((name) => `${name}()`).join(", ")})) });`,
  ];
  const five = Array.from(
    { length: 5 },
    (_, index) =>
      `t${index}: tool({ description: "d", inputSchema: z.object({ a: z.string(), b: z.number().optional(), c: z.array(z.string()) }), execute: async ({ a, b }) => \`\${a} \${b}\` }),`,
  );
  const byHand = [
    'import { generateText, tool } from "ai";',
    'import { z } from "zod";',
    `await generateText({ model: "m", prompt: "p", tools: { ${five.join(" ")} } });`,
  ];
  bench.figure({
    name: "type instantiations, all tools through /ai-sdk",
    ours: instantiationsOf(ours),
    baseline: { name: "ai with 5 tools by hand", value: instantiationsOf(byHand) },
    unit: "instantiations",
    target: { max: 1.5 },
  });
}

function instantiationsOf(lines: readonly string[]): number {
  const folder = mkdtempSync(join(packageFolder, "bench-"));
  try {
    const file = join(folder, "program.ts");
    writeFileSync(file, lines.join("\n"));
    const program = ts.createProgram([file], {
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2023,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      types: [],
    });
    const source = program.getSourceFile(file);
    const faults = program.getSemanticDiagnostics(source);
    if (faults.length > 0)
      throw new Error(faults.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, "\n")).join("\n"));
    return (program as ts.Program & { getInstantiationCount(): number }).getInstantiationCount();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
