import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { descendants } from "@toolhaft/process";
import { defineBench, tempWorkspace } from "@toolhaft/testing";
import { createLspTools } from "../src/index.ts";
import { callOf } from "./call.ts";

const serverBin = fileURLToPath(new URL("../test/servers/node_modules/.bin", import.meta.url));
const fakeServer = fileURLToPath(new URL("../test/support/fake-server.mjs", import.meta.url));
const documents = 64;
const lines = 1_000;
const hovers = 10_000;

/** Bytes in use after a collection; strings lie partly outside of the heap proper. */
function used(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** What the host keeps: for open documents, and after many calls; and what runs beside it. */
export default defineBench(async (bench) => {
  if (globalThis.gc === undefined) return bench.skip("memory", "the collector cannot be called: run by pnpm bench");
  const tools = await tempWorkspace({
    "hover.mjs": `export default (server) => server.on("textDocument/hover", () => ({ contents: "some words" }));`,
  });
  const text = "const value = some.call(with, four, words); // and a remark\n".repeat(lines);
  const files = Object.fromEntries(Array.from({ length: documents }, (_, n) => [`f${n}.echo`, `// ${n}\n${text}`]));
  const workspace = await tempWorkspace(files);
  const echo = {
    command: process.execPath,
    args: [fakeServer, tools.path("hover.mjs")],
    files: [{ languageId: "echo", extensions: [".echo"] }],
    ready: { by: "none" as const },
  };
  const lsp = createLspTools({ servers: { echo } });
  const call = callOf(lsp, workspace.directory);
  const hover = (n: number) => call("hover", { filePath: `f${n % documents}.echo`, line: 1, character: 8 });
  for (let n = 0; n < 50; n++) await hover(0);
  const before = used();
  for (let n = 1; n < documents; n++) await hover(n);
  const open = used();
  bench.figure({
    name: `host memory of ${documents} open files of ${lines} lines`,
    ours: (open - before) / 2 ** 20,
    baseline: { name: "their text", value: ((documents - 1) * text.length) / 2 ** 20 },
    unit: "MB",
    target: { max: 2 },
  });
  for (let n = 0; n < hovers; n++) await hover(n);
  bench.figure({
    name: `host memory after ${hovers} hovers more`,
    ours: Math.max(0, used() - open) / 2 ** 20,
    baseline: { name: "5 MB", value: 5 },
    unit: "MB",
    target: { max: 1 },
  });
  await lsp.close();
  await workspace.remove();
  await tools.remove();
  await running(bench);
});

type Bench = Parameters<Parameters<typeof defineBench>[0]>[0];

/** Processes and resident memory of one TypeScript project, watchdog included. */
async function running(bench: Bench): Promise<void> {
  process.env.PATH = [serverBin, process.env.PATH].join(delimiter);
  const workspace = await tempWorkspace({ "tsconfig.json": "{}", "a.ts": "export const one = 1;\n" });
  const lsp = createLspTools({ trust: "workspace" });
  await callOf(lsp, workspace.directory)("hover", { filePath: "a.ts", symbol: "one" });
  const { servers } = (await callOf(lsp, workspace.directory)("servers", {})).data as unknown as {
    servers: { id: string; pid?: number; rssBytes?: number }[];
  };
  const below = await descendants(process.pid);
  const [server] = servers;
  bench.table(
    "one TypeScript project",
    ["host MB", "servers MB", "processes started"],
    [[Math.round(process.memoryUsage.rss() / 2 ** 20), Math.round((server?.rssBytes ?? 0) / 2 ** 20), below.length]],
  );
  await lsp.close();
  await workspace.remove();
}
