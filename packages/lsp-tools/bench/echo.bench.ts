import { fileURLToPath } from "node:url";
import { defineBench, tempWorkspace } from "@toolhaft/testing";
import { createLspTools } from "../src/index.ts";
import { pathToUri } from "../src/uris.ts";
import { callOf } from "./call.ts";

const fakeServer = fileURLToPath(new URL("../test/support/fake-server.mjs", import.meta.url));

/** Ten thousand places from a server that only echoes: what merging, sorting and rendering cost. */
export default defineBench(async (bench) => {
  const tools = await tempWorkspace({
    "echo.mjs": `export default (server) => {
      server.capabilities.referencesProvider = true;
      const root = "file://" + process.cwd() + "/f";
      const places = Array.from({ length: 10000 }, (_, n) => ({ uri: root + (n % 100) + ".echo", range: { start: { line: Math.floor(n / 100), character: 4 }, end: { line: Math.floor(n / 100), character: 8 } } }));
      server.on("textDocument/references", () => places);
    };`,
  });
  const files = Object.fromEntries(Array.from({ length: 100 }, (_, n) => [`f${n}.echo`, "abc defg\n".repeat(100)]));
  const workspace = await tempWorkspace(files);
  const echoServer = {
    command: process.execPath,
    args: [fakeServer, tools.path("echo.mjs")],
    files: [{ languageId: "echo", extensions: [".echo"] }],
    ready: { by: "none" as const },
  };
  const lsp = createLspTools({ servers: { echo: echoServer } });
  const call = callOf(lsp, workspace.directory);
  await call("find_references", { filePath: "f0.echo", line: 0, character: 4 });
  const { life } = lsp.pool.engine.entries[0] ?? {};
  if (!life) throw new Error("no echo server runs");
  const params = {
    textDocument: { uri: pathToUri(workspace.path("f0.echo")) },
    position: { line: 0, character: 4 },
    context: { includeDeclaration: true },
  };
  await bench.compare({
    name: "10 000 places of an echo server, to text",
    ours: () => call("find_references", { filePath: "f0.echo", line: 0, character: 4, limit: 1000 }),
    baseline: { name: "raw decode", run: () => life.request("textDocument/references", params) },
    target: { max: 2 },
    batch: 1,
    rounds: 9,
  });
  await lsp.close();
  await workspace.remove();
  await tools.remove();
});
