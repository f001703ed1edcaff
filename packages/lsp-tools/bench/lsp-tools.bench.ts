import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createContext } from "@toolhaft/core";
import { defineBench, tempWorkspace } from "@toolhaft/testing";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import { smallestChange } from "../src/documents.ts";
import { createLspTools } from "../src/index.ts";
import { beginCall } from "../src/open-file.ts";
import { pathToUri } from "../src/uris.ts";
import { generatedTree } from "../test/support/generated-tree.ts";
import { callOf, cpuTimed, quantile, timed } from "./call.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const serverBin = here("../test/servers/node_modules/.bin");
const tsserver = here("../test/servers/node_modules/typescript/lib/tsserver.js");
const cclsp = here("../node_modules/cclsp/dist/index.js");

/** A client of the protocol with our handshake and nothing else: start, initialize, open, ask. */
async function rawReferences(root: string, file: string, text: string): Promise<number> {
  const protocol = await import("vscode-languageserver-protocol/node");
  const child = spawn(join(serverBin, "typescript-language-server"), ["--stdio"], {
    cwd: root,
    stdio: ["pipe", "pipe", "ignore"],
  });
  const connection = protocol.createMessageConnection(
    new protocol.StreamMessageReader(child.stdout),
    new protocol.StreamMessageWriter(child.stdin),
  );
  connection.onRequest((method: string) => (method === "workspace/configuration" ? [null] : null));
  connection.listen();
  const uri = pathToUri(join(root, file));
  await connection.sendRequest("initialize", {
    processId: process.pid,
    rootUri: pathToUri(root),
    workspaceFolders: [{ uri: pathToUri(root), name: "tree" }],
    capabilities: { workspace: { didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true } } },
    initializationOptions: {
      disableAutomaticTypingAcquisition: true,
      tsserver: { path: tsserver, useSyntaxServer: "never", useClientFileWatcher: true },
    },
  });
  await connection.sendNotification("initialized", {});
  await connection.sendNotification("textDocument/didOpen", {
    textDocument: { uri, languageId: "typescript", version: 1, text },
  });
  const found = await connection.sendRequest<unknown[]>("textDocument/references", {
    textDocument: { uri },
    position: { line: 0, character: 16 },
    context: { includeDeclaration: true },
  });
  connection.dispose();
  child.kill();
  return found.length;
}

export default defineBench(async (bench) => {
  process.env.PATH = [serverBin, process.env.PATH].join(delimiter);
  const tree = generatedTree();
  const workspace = await tempWorkspace(tree.files);
  const { directory } = workspace;
  const { definition: file, symbol } = tree;
  const source = String(tree.files[file]);

  const rawFound: number[] = [];
  const rawCold: number[] = [];
  const ourCold: number[] = [];
  for (let round = 0; round < 3; round++) {
    rawCold.push(await timed(async () => rawFound.push(await rawReferences(directory, file, source))));
    const fresh = createLspTools();
    ourCold.push(
      await timed(() => callOf(fresh, directory)("find_references", { filePath: file, line: 0, character: 16 })),
    );
    await fresh.close();
  }
  bench.figure({
    name: "cold first references, start included",
    ours: Math.min(...ourCold),
    baseline: { name: "raw client", value: Math.min(...rawCold) },
    unit: "ms",
    target: { max: 1.1 },
  });

  const lsp = createLspTools();
  const call = callOf(lsp, directory);
  const first = await call("find_references", { filePath: file, symbol, limit: 1000 });
  const { life } = lsp.pool.engine.entries[0] ?? {};
  const [entry] = lsp.pool.engine.entries;
  if (!life || !entry) throw new Error("no server runs");
  const uri = pathToUri(join(directory, file));
  const hoverRaw: number[] = [];
  const hoverOurs: number[] = [];
  for (let round = 0; round < 220; round++) {
    const position = { line: 0, character: 16 };
    const raw = await cpuTimed(() => life.request("textDocument/hover", { textDocument: { uri }, position }));
    const ours = await cpuTimed(() => call("hover", { filePath: file, ...position }));
    if (round >= 20) {
      hoverRaw.push(raw);
      hoverOurs.push(ours);
    }
  }
  for (const [q, limit] of [
    [0.5, 1],
    [0.95, 3],
  ] as const) {
    bench.figure({
      name: `warm hover over raw sendRequest, CPU of the host, p${q * 100}`,
      ours: Math.max(0, quantile(hoverOurs, q) - quantile(hoverRaw, q)),
      baseline: { name: `${limit} ms`, value: limit },
      unit: "ms",
      target: { max: 1 },
    });
  }

  const referencesMs: number[] = [];
  const barrierMs: number[] = [];
  const scope = beginCall(lsp.pool.engine, createContext({ directory })).scope;
  for (let round = 0; round < 20; round++) {
    referencesMs.push(await timed(() => call("find_references", { filePath: file, line: 0, character: 16 })));
    barrierMs.push(await timed(() => lsp.pool.engine.sync(life, entry, scope, { crossFile: true }, undefined)));
  }
  bench.figure({
    name: "disk barrier, nothing changed, 600 files",
    ours: quantile(barrierMs, 0.5),
    baseline: { name: "warm references", value: quantile(referencesMs, 0.5) },
    unit: "ms",
    target: { max: 0.05 },
  });
  const long = Array.from({ length: 10_000 }, (_, line) => `const value${line} = ${line};\n`).join("");
  bench.figure({
    name: "didChange of one character in 10 000 lines",
    ours: JSON.stringify(smallestChange(long, long.replace("value5000 ", "value500x "))).length,
    baseline: { name: "1 KB", value: 1024 },
    unit: "bytes",
    target: { max: 1 },
  });

  await peer(bench, directory, file, symbol, { ours: first, call, references: tree.references });
  await lsp.close();
  bench.note(
    `references: ours ${Number((first.data as Record<string, unknown>).total)}, raw ${rawFound.join(", ")}, true ${tree.references}; ${tree.definition}, 600 files in 12 packages`,
  );
  await workspace.remove();
});

type Bench = Parameters<Parameters<typeof defineBench>[0]>[0];

/** cclsp over MCP on the same server program, as its users run it. */
async function peer(
  bench: Bench,
  directory: string,
  file: string,
  symbol: string,
  ours: { ours: { text: string; data: Record<string, unknown> }; call: ReturnType<typeof callOf>; references: number },
): Promise<void> {
  const tools = await tempWorkspace();
  const config = tools.path("cclsp.json");
  const server = {
    extensions: ["ts"],
    command: [join(serverBin, "typescript-language-server"), "--stdio"],
    rootDir: directory,
  };
  await writeFile(config, JSON.stringify({ servers: [server] }));
  const client = new Client({ name: "bench", version: "1" });
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [cclsp],
    cwd: directory,
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", CCLSP_CONFIG_PATH: config },
    stderr: "ignore",
  });
  await client.connect(transport);
  const ask = async () => {
    const answer = await client.callTool({
      name: "find_references",
      arguments: { file_path: file, symbol_name: symbol },
    });
    return (answer.content as { text?: string }[]).map((part) => part.text ?? "").join("\n");
  };
  const count = (text: string) => text.match(/\.ts:\d+:\d+/g)?.length ?? 0;
  const cold = await ask();
  let warm = cold;
  for (let round = 0; round < 10 && count(warm) < ours.references; round++) warm = await ask();
  const warmOf = async (work: () => Promise<unknown>) => {
    const samples: number[] = [];
    for (let round = 0; round < 20; round++) samples.push(await timed(work));
    return [quantile(samples, 0.5), quantile(samples, 0.95)].map((ms) => Math.round(ms * 10) / 10);
  };
  const definition = { file_path: file, symbol_name: symbol };
  const position = { filePath: file, line: 0, character: 16 };
  bench.table(
    "warm calls, wall ms",
    ["call", "ours p50", "ours p95", "cclsp p50", "cclsp p95"],
    [
      [
        "references",
        ...(await warmOf(() => ours.call("find_references", { ...position, limit: 1000 }))),
        ...(await warmOf(ask)),
      ],
      [
        "definition",
        ...(await warmOf(() => ours.call("goto_definition", position))),
        ...(await warmOf(() => client.callTool({ name: "find_definition", arguments: definition }))),
      ],
    ],
  );
  await client.close();
  const brief = await ours.call("find_references", { filePath: file, symbol, limit: 1000, detail: "positions" });
  const perReference = (text: string, references: number) => encode(text).length / Math.max(1, references);
  const theirs = perReference(warm, count(warm));
  for (const [detail, text, max] of [
    ["line", ours.ours.text, 1],
    ["positions", brief.text, 0.45],
  ] as const) {
    bench.figure({
      name: `tokens per reference, ${detail}`,
      ours: perReference(text, ours.references),
      baseline: { name: "cclsp 0.7.0", value: theirs },
      unit: "tokens",
      target: { max },
    });
  }
  bench.table(
    "references right on the first call",
    ["tool", "found", "true"],
    [
      ["ours", Number(ours.ours.data.total), ours.references],
      ["cclsp 0.7.0", count(cold), ours.references],
    ],
  );
  await tools.remove();
}
