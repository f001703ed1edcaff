import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@toolhaft/testing";
import { build } from "tsup";

const packages = fileURLToPath(new URL("../../", import.meta.url));
const source = fileURLToPath(new URL("./fixtures/worker.ts", import.meta.url));
const cache = fileURLToPath(new URL("../node_modules/.cache/", import.meta.url));
let worker = "";

/** Bundles the worker from the sources once: thirty processes that each compile it would take minutes. */
export async function buildWorker(): Promise<() => void> {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "worker-"));
  await build({
    entry: { worker: source },
    outDir: folder,
    format: "esm",
    target: "node20",
    silent: true,
    config: false,
    clean: false,
    dts: false,
    noExternal: [/^@toolhaft\//],
    external: ["better-sqlite3"],
    outExtension: () => ({ js: ".mjs" }),
    esbuildOptions(options) {
      options.alias = Object.fromEntries(
        ["core", "sqlite", "workspace", "text"].map((name) => [`@toolhaft/${name}`, `${packages}${name}/src/index.ts`]),
      );
    },
  });
  worker = join(folder, "worker.mjs");
  return () => rmSync(folder, { recursive: true, force: true });
}

export interface Worker extends Child {
  tell(line: string): void;
}

/** Starts the worker as a real process; one that ends before it said so many lines is a failure. */
export function startWorker(...args: readonly (string | number)[]): Worker {
  const child = startChild(worker, args.map(String));
  const { stdin } = child.process;
  stdin?.on("error", () => undefined);
  return {
    ...child,
    async hasLines(count) {
      await child.hasLines(count);
      if (child.lines.length < count) throw new Error(`the worker ended early: ${child.stderr()}`);
    },
    tell: (line) => void stdin?.write(`${line}\n`),
  };
}
