import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { defineBench } from "@toolhaft/testing";

const require = createRequire(import.meta.url);
const dist = fileURLToPath(new URL("../dist/index.js", import.meta.url));
const zod = pathToFileURL(require.resolve("zod")).href.replace(/index\.cjs$/, "index.js");

/** Least milliseconds that a fresh process takes to import a module, of several processes taken in turns. */
function importTimes(modules: readonly (readonly string[])[]): number[] {
  const best = modules.map(() => Number.POSITIVE_INFINITY);
  for (let round = 0; round < 9; round++) {
    modules.forEach((urls, index) => {
      const script = `const start = process.cpuUsage(); ${urls.map((url) => `await import(${JSON.stringify(url)});`).join("")} const { user, system } = process.cpuUsage(start); console.log((user + system) / 1000)`;
      const taken = Number(execFileSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" }));
      best[index] = Math.min(best[index] ?? taken, taken);
    });
  }
  return best;
}

function sizeOf(folder: string): number {
  return readdirSync(folder, { withFileTypes: true }).reduce((sum, entry) => {
    if (entry.name === "node_modules") return sum;
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? sizeOf(path) : statSync(path).size);
  }, 0);
}

export default defineBench((bench) => {
  if (!existsSync(dist)) {
    bench.skip("import and installed size", "core is not built; run npx pnpm --filter @toolhaft/core run build");
    return;
  }
  const [zodAlone = Number.NaN, both = Number.NaN] = importTimes([[zod], [zod, pathToFileURL(dist).href]]);
  bench.figure({
    name: "import of core and zod",
    ours: both,
    baseline: { name: "a module that imports zod", value: zodAlone },
    unit: "ms",
    target: { max: 1.25 },
  });
  const zodSize = sizeOf(dirname(require.resolve("zod/package.json")));
  const types = fileURLToPath(new URL("../node_modules/@standard-schema/spec", import.meta.url));
  const coreSize = sizeOf(dirname(dist)) + sizeOf(types);
  bench.figure({
    name: "installed size with zod",
    ours: coreSize + zodSize,
    baseline: { name: "zod alone", value: zodSize },
    unit: "bytes",
    target: { max: 1.1 },
  });
});
