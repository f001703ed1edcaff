import { mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DiagnosticsData, EditData, Place } from "../src/index.ts";
import { familyFor, serverModules, type TestFamily } from "./support/family.ts";
import { webProject } from "./support/projects.ts";

let workspace: TempWorkspace;
let family: TestFamily;

beforeAll(async () => {
  workspace = await tempWorkspace(webProject);
  family = familyFor(workspace.directory);
});
afterAll(async () => {
  await family[Symbol.asyncDispose]();
  await workspace.remove();
});

interface Places {
  places: (Place & { access?: string })[];
  total: number;
}
const lines = (data: Places) => data.places.map((place) => `${place.path}:${place.range.start.line}`);
const unsupported = async (tool: string, input: object) =>
  expect(await family.fails(tool, input)).toMatchObject({ code: "unsupported", retryable: false });

describe("css", () => {
  const main = { filePath: "style.css", line: 5, character: 16 };

  test("diagnostics by pull", async () => {
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "style.css" });
    expect(data.files[0]?.diagnostics).toMatchObject([{ code: "unknownProperties", range: { start: { line: 6 } } }]);
  });

  test("definition, references, highlights, symbols, hover", async () => {
    expect(lines((await family.ok<Places>("goto_definition", main)).data)).toEqual(["style.css:2"]);
    expect(lines((await family.ok<Places>("find_references", main)).data)).toEqual([
      "style.css:2",
      "style.css:5",
      "style.css:9",
    ]);
    expect((await family.ok<Places>("document_highlights", main)).data.total).toBe(3);
    expect((await family.ok("document_symbols", { filePath: "style.css" })).text).toContain(".button");
    expect((await family.ok("hover", { filePath: "style.css", symbol: "background" })).text).toContain("background");
  });

  test("completion", async () => {
    const { data } = await family.ok<{ items: { label: string }[] }>("completion", {
      filePath: "style.css",
      line: 6,
      character: 5,
    });
    expect(data.items.map((item) => item.label)).toContain("color");
  });

  test("colours and links", async () => {
    const { data } = await family.ok<{ colors: { hex: string }[] }>("document_colors", { filePath: "style.css" });
    expect(data.colors.map((color) => color.hex)).toEqual(["#ff8800", "#ff0000", "#00000080"]);
    const links = await family.ok<{ links: { target: string }[] }>("document_links", { filePath: "style.css" });
    expect(links.data.links[0]?.target).toMatch(/base\.css$/);
  });

  test("rename is unverified beforehand, and then done", async () => {
    const check = await family.ok<{ renameable: string }>("prepare_rename", main);
    expect(check.data.renameable).toBe("unverified");
    const { data } = await family.ok<EditData>("rename", { ...main, newName: "--brand" });
    expect(data).toMatchObject({ status: "applied", totalEdits: 3 });
    expect(await workspace.read("style.css")).toContain("color: var(--brand);");
  });

  test("an action whose command only the client runs is carried out", async () => {
    const { data } = await family.ok<{ actions: { title: string; shape: string }[] }>("code_actions", {
      filePath: "style.css",
      startLine: 6,
    });
    const action = data.actions.find((one) => one.title.includes("'color'"));
    expect(action?.shape).toMatch(/client_command|edit/);
    await family.ok("execute_code_action", { filePath: "style.css", startLine: 6, title: action?.title });
    expect(await workspace.read("style.css")).toContain("  color: red;");
  });

  test("formatting", async () => {
    await workspace.write({ "ugly.css": "a{color:red}\n" });
    await family.ok("format_document", { filePath: "ugly.css" });
    expect(await workspace.read("ugly.css")).toBe("a {\n  color: red\n}\n");
  });

  test("what css has not is unsupported", async () => {
    await unsupported("goto_type_definition", main);
    await unsupported("goto_implementation", main);
    await unsupported("signature_help", main);
    await unsupported("semantic_tokens", { filePath: "style.css" });
    await unsupported("code_lens", { filePath: "style.css" });
    await unsupported("inlay_hints", { filePath: "style.css" });
  });
});

describe("html", () => {
  test("references, completion, folding, selection, links, colours", async () => {
    // matching tags are the uses of a tag
    const tag = { filePath: "index.html", line: 4, character: 2 };
    expect((await family.ok<Places>("document_highlights", tag)).data.total).toBe(2);
    const completion = await family.ok<{ items: { label: string }[] }>("completion", {
      filePath: "index.html",
      line: 5,
      character: 5,
    });
    expect(completion.data.items.map((item) => item.label)).toContain("class");
    expect(
      (await family.ok<{ total: number }>("folding_ranges", { filePath: "index.html" })).data.total,
    ).toBeGreaterThan(1);
    expect(
      (await family.ok("selection_ranges", { filePath: "index.html", positions: [{ line: 5, character: 14 }] })).text,
    ).toContain("one");
    expect((await family.ok("document_links", { filePath: "index.html" })).text).toContain("style.css");
    expect((await family.ok("document_colors", { filePath: "index.html" })).text).toContain("#123456");
  });

  test("formatting and renaming a tag", async () => {
    const { data } = await family.ok<EditData>("rename", {
      filePath: "index.html",
      line: 4,
      character: 2,
      newName: "article",
    });
    expect(data.totalEdits).toBe(2);
    expect(await workspace.read("index.html")).toContain("</article>");
    await family.ok("format_document", { filePath: "index.html" });
    expect(await workspace.read("index.html")).toMatch(/^ {2}<article>$/m);
  });
});

describe("json", () => {
  test("diagnostics, hover, folding, colours", async () => {
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "broken.json" });
    expect(data.files[0]?.diagnostics[0]?.message).toMatch(/comma/i);
    expect((await family.ok("hover", { filePath: "settings.json", symbol: "port" })).text).toContain(
      "The port to listen on",
    );
    expect((await family.ok<{ total: number }>("document_symbols", { filePath: "settings.json" })).data.total).toBe(3);
    await workspace.write({ "deep.json": '{\n  "a": {\n    "b": 1\n  }\n}\n' });
    expect((await family.ok<{ total: number }>("folding_ranges", { filePath: "deep.json" })).data.total).toBe(2);
  });

  test("formatting, sorting", async () => {
    await family.ok("format_document", { filePath: "package.json" });
    expect(await workspace.read("package.json")).toBe('{\n  "name": "demo",\n  "private": true\n}\n');
    await workspace.write({ "sort.json": '{ "b": 1, "a": 2 }\n' });
    const { data } = await family.ok<{ actions: { title: string; shape: string }[] }>("code_actions", {
      filePath: "sort.json",
      startLine: 0,
    });
    const sort = data.actions.find((one) => /sort/i.test(one.title));
    expect(sort?.shape).toBe("client_command");
    await family.ok("execute_code_action", { filePath: "sort.json", startLine: 0, title: sort?.title });
    expect(JSON.stringify(Object.keys(JSON.parse(await workspace.read("sort.json"))))).toBe('["a","b"]');
  });

  test("what json has not is unsupported", async () => {
    const port = { filePath: "settings.json", symbol: "port" };
    await unsupported("goto_definition", port);
    await unsupported("prepare_rename", port);
    await unsupported("rename", { ...port, newName: "x" });
    await unsupported("workspace_symbols", { query: "port", filePath: "settings.json" });
  });
});

describe("dockerfile", () => {
  const filePath = "Dockerfile";
  const build = { filePath, line: 7, symbol: "build" };

  test("diagnostics by push without a version", async () => {
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath });
    expect(data.files[0]).toMatchObject({ freshness: "current" });
    expect(data.files[0]?.diagnostics.map((one) => one.message).join()).toMatch(/BOGUS/i);
  });

  test("definition, highlights, symbols, signature, links, tokens", async () => {
    expect(lines((await family.ok<Places>("goto_definition", build)).data)).toEqual(["Dockerfile:2"]);
    expect((await family.ok<Places>("document_highlights", build)).data.total).toBe(2);
    expect((await family.ok<{ total: number }>("document_symbols", { filePath })).data.total).toBeGreaterThan(3);
    const signature = await family.ok<{ signatures: unknown[] }>("signature_help", { filePath, line: 5, character: 5 });
    expect(signature.data.signatures.length).toBeGreaterThan(0);
    expect((await family.ok("document_links", { filePath })).text).toContain("hub.docker.com");
    expect((await family.ok<{ total: number }>("semantic_tokens", { filePath })).data.total).toBeGreaterThan(3);
  });

  test("references are unsupported, code actions are there", async () => {
    await unsupported("find_references", build);
  });

  test("rename", async () => {
    expect((await family.ok<{ renameable: string }>("prepare_rename", build)).data.renameable).toBe("yes");
    await family.ok("rename", { ...build, newName: "builder" });
    const text = await workspace.read(filePath);
    expect(text).toContain("AS builder");
    expect(text).toContain("--from=builder");
  });

  test("a name with an ending is recognised", async () => {
    await workspace.write({ "Dockerfile.dev": "FROM debian\nBOGUS x\n" });
    const { data } = await family.ok<DiagnosticsData>("diagnostics", { filePath: "Dockerfile.dev" });
    expect(data.files[0]?.diagnostics.length).toBe(1);
    const clean = await family.ok<{ total: number }>("code_actions", { filePath: "Dockerfile.dev", startLine: 0 });
    expect(clean.data.total).toBe(0);
    expect(clean.text).toMatch(/^No code actions/);
  });
});

describe("markdown", () => {
  test("says why something cannot be renamed", async () => {
    await workspace.write({ "doc.md": "# Title\n\nplain text\n\n[link](#title)\n" });
    const no = await family.ok<{ renameable: string; reason: string }>("prepare_rename", {
      filePath: "doc.md",
      line: 2,
      character: 1,
    });
    expect(no.data).toMatchObject({ renameable: "no", reason: expect.stringMatching(/not supported/i) });
    expect((await family.ok<{ total: number }>("document_symbols", { filePath: "doc.md" })).data.total).toBe(1);
  });
});

describe("tailwind", () => {
  test("completions by the thousand, hover, colours", async () => {
    await using project = await tempWorkspace({
      "package.json": '{ "dependencies": { "tailwindcss": "4" } }',
      "app.css": '@import "tailwindcss";\n',
      "index.html": '<!doctype html>\n<div class="text-red-500 p-4 "></div>\n',
    });
    await mkdir(project.path("node_modules"));
    await symlink(join(serverModules, "tailwindcss"), project.path("node_modules/tailwindcss"));
    // the server is deaf while it builds: on a busy machine that takes longer than a minute
    const timeouts = { ready: 200_000, fast: 200_000, call: 250_000 };
    await using own = familyFor(project.directory, { servers: { html: false, css: false }, timeouts });
    const at = { filePath: "index.html", line: 1 };
    // the first call waits for the project to be built: before, the server answers with nothing
    const hover = await own.ok<{ complete: boolean }>("hover", { ...at, character: 16 });
    expect(hover.data.complete).toBe(true);
    expect(hover.text).toContain("color");
    const { data, text } = await own.ok<{ total: number; items: unknown[] }>("completion", { ...at, character: 29 });
    expect(data.total).toBeGreaterThan(10_000);
    expect(text).toMatch(/^20 of \d+ completions · tailwind/);
    expect(text.length).toBeLessThan(30_000);
    expect((await own.ok<{ total: number }>("document_colors", { filePath: "index.html" })).data.total).toBeGreaterThan(
      0,
    );
  }, 300_000);
});
