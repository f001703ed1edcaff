import { spawnSync } from "node:child_process";
import { toJsonSchema, toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { expect, test } from "vitest";
import { builtinServers, checkLanguageServers, createLspTools, defineServer } from "../src/index.ts";

const names = [
  "diagnostics",
  "goto_definition",
  "goto_type_definition",
  "goto_implementation",
  "goto_declaration",
  "find_references",
  "document_highlights",
  "document_symbols",
  "workspace_symbols",
  "hover",
  "signature_help",
  "completion",
  "prepare_rename",
  "rename",
  "code_actions",
  "execute_code_action",
  "format_document",
  "format_range",
  "prepare_call_hierarchy",
  "incoming_calls",
  "outgoing_calls",
  "type_hierarchy_supertypes",
  "type_hierarchy_subtypes",
  "folding_ranges",
  "selection_ranges",
  "semantic_tokens",
  "code_lens",
  "inlay_hints",
  "document_links",
  "document_colors",
  "servers",
  "restart_server",
].map((name) => `lsp_${name}`);

for (const positionBase of [0, 1] as const) {
  test(`32 tools with these names, within the size limits (numbers from ${positionBase})`, () => {
    const { tools } = createLspTools({ positionBase });
    expect(tools.map((tool) => tool.name)).toEqual(names);
    const schemas = tools.map((tool) => JSON.stringify(toJsonSchema(tool, "mcp")));
    expect(schemas.join("").length).toBeLessThanOrEqual(20_000);
    for (const tool of tools) {
      expect(tool.description.length, tool.name).toBeLessThanOrEqual(220);
      expect(tool.annotations.openWorldHint).toBe(false);
    }
    const writing = ["lsp_rename", "lsp_execute_code_action", "lsp_format_document", "lsp_format_range"];
    expect(
      tools
        .filter((tool) => tool.annotations.destructiveHint)
        .map((tool) => tool.name)
        .sort(),
    ).toEqual(writing.sort());
    expect(toolset(createLspTools({ positionBase })).readOnly().tools).toHaveLength(27);
  });
}

test("62 servers are known, each whole, each with a way to install it", () => {
  expect(builtinServers).toHaveLength(62);
  expect(new Set(builtinServers.map((server) => server.id)).size).toBe(62);
  for (const server of builtinServers) {
    expect(() => defineServer(structuredClone(server))).not.toThrow();
    expect(server.install.length, server.id).toBeGreaterThan(0);
  }
});

test("a definition that is not whole lists its faults", () => {
  const bad = {
    id: "Bad",
    command: "",
    files: [{ languageId: "x", extensions: ["x"] }],
    root: { markers: [], pick: "nearest" as const },
    install: [],
  };
  expect(() => defineServer(bad)).toThrow(/id "Bad".*command is empty.*extension "x" must start with a dot/);
});

test("importing the package opens nothing and loads no protocol module", () => {
  const code = `
    import { createLspTools } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)};
    createLspTools();
    const loaded = [...(await import("node:module")).default._pathCache ? Object.keys((await import("node:module")).default._pathCache) : []];
    const handles = process.getActiveResourcesInfo().filter((name) => !/^(TTY|Pipe|FSReq|CloseReq|MessagePort)/.test(name));
    console.log(JSON.stringify({ protocol: loaded.some((name) => name.includes("vscode-languageserver-protocol") || name.includes("vscode-jsonrpc")), handles }));`;
  const root = new URL("../../../", import.meta.url).pathname;
  const result = spawnSync(process.execPath, ["--import", "tsx", "--input-type=module", "-e", code], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, TSX_TSCONFIG_PATH: `${root}tsconfig.json` },
  });
  expect(result.stderr).toBe("");
  expect(JSON.parse(result.stdout)).toEqual({ protocol: false, handles: [] });
});

test("doctor tells what is found and what is missing, and starts nothing", async () => {
  await using workspace = await tempWorkspace({
    "go.mod": "module x\n",
    "main.go": "package main\n",
    "a.zig": "\n",
    "toolhaft.config.json": '{ "lsp": { "servers": { "go": false } } }',
  });
  const checks = await checkLanguageServers(workspace.directory);
  expect(checks.map((check) => check.id)).not.toContain("go");
  expect(checks.find((check) => check.id === "zig")).toMatchObject({
    status: "missing",
    install: expect.stringContaining("zls"),
  });
});
