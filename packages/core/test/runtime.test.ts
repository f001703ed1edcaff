import { readdir, readFile } from "node:fs/promises";
import vm from "node:vm";
import ts from "typescript";
import { expect, it } from "vitest";

const source = new URL("../src/", import.meta.url);

/** Files that the root entry reaches by imports that stay at run time, and what else those import. */
async function reached(entry: URL): Promise<{ files: Map<string, string>; outside: Set<string> }> {
  const files = new Map<string, string>();
  const outside = new Set<string>();
  const open = [entry];
  for (let url = open.pop(); url !== undefined; url = open.pop()) {
    if (files.has(url.href)) continue;
    const text = ts.transpileModule(await readFile(url, "utf8"), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2023, verbatimModuleSyntax: true },
    }).outputText;
    files.set(url.href, text);
    for (const { fileName } of ts.preProcessFile(text).importedFiles) {
      if (fileName.startsWith(".")) open.push(new URL(fileName, url));
      else outside.add(fileName);
    }
  }
  return { files, outside };
}

it("the root imports nothing at run time: no node:, no zod, no other package", async () => {
  const { files, outside } = await reached(new URL("index.ts", source));
  expect([...outside]).toEqual([]);
  expect(files.size).toBeGreaterThan(30);
});

it("only the node entry imports node:, only otel imports OpenTelemetry", async () => {
  const everything = (await readdir(source, { recursive: true })).filter((name) => name.endsWith(".ts"));
  for (const name of everything) {
    const { importedFiles } = ts.preProcessFile(await readFile(new URL(name, source), "utf8"));
    for (const { fileName } of importedFiles) {
      if (fileName.startsWith("node:")) expect(name).toMatch(/^node[./]/);
      if (fileName.startsWith("@opentelemetry/")) expect(name).toBe("otel.ts");
    }
  }
});

it("runs in a realm that has the web's globals and no process", async () => {
  const web = {
    AbortController,
    AbortSignal,
    clearTimeout,
    crypto,
    DOMException,
    performance,
    setTimeout,
    TextDecoder,
    TextEncoder,
    URL,
    structuredClone,
    atob,
    btoa,
  };
  const realm = vm.createContext({ ...web });
  vm.runInContext(await bundled(new URL("index.ts", source)), realm);
  const result = await vm.runInContext(
    `(async () => {
      const schema = (json) => ({ "~standard": { version: 1, vendor: "own", validate: (value) => typeof value?.text === "string" ? { value } : { issues: [{ message: "text is missing", path: ["text"] }] }, jsonSchema: { input: () => json, output: () => json } } });
      const text = { type: "object", properties: { text: { type: "string", description: "a text" } }, required: ["text"] };
      const echo = core.defineTool({ name: "echo", title: "Echo", description: "Gives back the text it was given.", inputSchema: schema(text), outputSchema: schema(text), annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }, execute: async (input) => input, render: ({ text }) => text });
      const result = await echo.call({ text: "from a worker" }, { directory: "/w" });
      const noFolder = await echo.call({ text: "x" }).then(() => "accepted", (error) => error.message);
      return JSON.stringify([typeof process, result.text, noFolder]);
    })()`,
    realm,
  );
  expect(JSON.parse(result)).toEqual([
    "undefined",
    "from a worker",
    "createContext: there is no working directory here; give `directory`",
  ]);
});

async function bundled(entry: URL): Promise<string> {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: [entry.pathname],
    bundle: true,
    write: false,
    format: "iife",
    globalName: "core",
    platform: "neutral",
  });
  return outputFiles[0]?.text ?? "";
}
