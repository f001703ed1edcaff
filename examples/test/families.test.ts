import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import isSafe from "safe-regex2";
import { describe, expect, it } from "vitest";

const packages = fileURLToPath(new URL("../../packages/", import.meta.url));
const imports = fileURLToPath(new URL("./fixtures/imports.mjs", import.meta.url));

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

/** What a client sees of every family that the command knows. */
async function everyTool(): Promise<Listed[]> {
  const cwd = mkdtempSync(join(tmpdir(), "toolhaft-families-"));
  const client = new Client({ name: "test", version: "1" });
  const args = [join(packages, "toolhaft/dist/bin.js"), "mcp", "all", "--quiet"];
  await client.connect(new StdioClientTransport({ command: process.execPath, args, cwd, stderr: "ignore" }));
  try {
    const tools: Listed[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await client.listTools(cursor === undefined ? {} : { cursor });
      tools.push(...page.tools);
      cursor = page.nextCursor;
      if (cursor === undefined) return tools;
    }
  } finally {
    await client.close();
    rmSync(cwd, { recursive: true, force: true });
  }
}

/** The npm packages, and our own, that are resolved when modules are imported in a process of their own. */
function resolvedBy(...files: string[]): string[] {
  const urls = files.map((file) => pathToFileURL(file).href);
  const printed = execFileSync(process.execPath, [imports, ...urls], { encoding: "utf8" });
  const names = printed
    .split("\n")
    .flatMap((url) => /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(decodeURIComponent(url))?.[1] ?? []);
  return [...new Set(names)].sort();
}

/** Doubted for a repetition inside another, and linear: the outer one begins with a sign that the inner one cannot take. */
const known = new Set(["^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$"]);

describe("every family", { timeout: 300_000 }, () => {
  it("hints-1: each tool has a title and all four hints; what reads is read-only and destroys nothing", async () => {
    const tools = await everyTool();
    expect(tools.length).toBeGreaterThan(40);
    for (const { name, title, annotations } of tools) {
      expect(title, name).toMatch(/\S/);
      expect(annotations, name).toMatchObject({
        title,
        readOnlyHint: expect.any(Boolean),
        destructiveHint: expect.any(Boolean),
        idempotentHint: expect.any(Boolean),
        openWorldHint: expect.any(Boolean),
      });
      if (annotations?.readOnlyHint) expect(annotations.destructiveHint, name).toBe(false);
      const reads = /_(?:read|list|search|get|info|recall|symbols|hover|diff|status|servers)$/.test(name);
      if (reads) expect(annotations?.readOnlyHint, name).toBe(true);
      if (/_(?:edit|write|forget|update|delete|purge)$|^edit_|^apply_|^undo_|^lsp_rename$/.test(name))
        expect(annotations?.readOnlyHint, name).toBe(false);
    }
  });

  it("no pattern of a schema can be made to take exponential time", async () => {
    const found: { tool: string; pattern: string }[] = [];
    const visit = (tool: string, value: unknown): void => {
      if (typeof value !== "object" || value === null) return;
      for (const [key, inner] of Object.entries(value)) {
        if (key === "pattern" && typeof inner === "string") found.push({ tool, pattern: inner });
        else visit(tool, inner);
      }
    };
    for (const { name, inputSchema, outputSchema } of await everyTool()) visit(name, [inputSchema, outputSchema]);
    expect(found.length).toBeGreaterThan(0);
    const doubted = found.filter(({ pattern }) => !isSafe(pattern) && !known.has(pattern));
    expect(doubted).toEqual([]);
    // The check itself finds one.
    expect(isSafe("^(a+)+$")).toBe(false);
  });
});

describe("importing", { timeout: 300_000 }, () => {
  it("pack-2: no package loads a native module, a browser, jsdom or a language server", () => {
    const built = readdirSync(packages)
      .map((folder) => join(packages, folder, "dist/index.js"))
      .filter((file) => existsSync(file));
    expect(built.length).toBeGreaterThan(10);
    const heavy = /^(?:better-sqlite3|jsdom|vscode-languageserver-protocol|vscode-jsonrpc|puppeteer|playwright)/;
    for (const file of built)
      expect(
        resolvedBy(file).filter((name) => heavy.test(name)),
        file,
      ).toEqual([]);
  });

  it("pack-1: an adapter resolves no host but its own", () => {
    const { peerDependencies }: { peerDependencies: Record<string, string> } = JSON.parse(
      readFileSync(join(packages, "adapters/package.json"), "utf8"),
    );
    const hosts = Object.keys(peerDependencies);
    expect(hosts).toContain("ai");
    const resolved = resolvedBy(join(packages, "adapters/dist/ai-sdk.js"));
    expect(resolved.filter((name) => name !== "ai" && hosts.includes(name))).toEqual([]);
  });
});
