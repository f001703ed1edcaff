import { execFile } from "node:child_process";
import { toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { fixtureTools } from "@toolhaft/testing/fixture-tools";
import { installPrograms, node22 } from "@toolhaft/testing/programs";
import { describe, expect, it } from "vitest";
import { serveHttp } from "../src/http.ts";
import { fixtureServer, loader } from "./clients.ts";

// The Inspector wants a newer Node than these packages do.
const { command: node, problem } = await node22();
const { folder, problem: missing } = await installPrograms({ "@modelcontextprotocol/inspector": "2.12.0" });
const reason = problem ?? missing;
if (reason !== undefined) console.warn(`SKIPPED the MCP Inspector: ${reason}`);
const inspector = `${folder}/node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js`;

interface Ran {
  code: number;
  out: string;
  err: string;
}

function inspect(...words: string[]): Promise<Ran> {
  return new Promise((resolve) => {
    const child = execFile(
      node ?? process.execPath,
      [inspector, "--cli", ...words],
      { maxBuffer: 16 * 1_024 * 1_024 },
      (_error, out, err) => resolve({ code: child.exitCode ?? -1, out, err }),
    );
  });
}

const stdio = [process.execPath, "--import", loader, fixtureServer, "{}"];

describe.skipIf(reason !== undefined)("the MCP Inspector's command line, a client that nobody here wrote", () => {
  it("lists every tool over stdio, and finds no schema that is not portable", async () => {
    const { code, out, err } = await inspect(...stdio, "--method", "tools/list", "--strict");
    expect({ code, err: err.includes("error") }).toEqual({ code: 0, err: false });
    const { tools } = JSON.parse(out);
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(
      expect.arrayContaining(fixtureTools().map(({ name }) => name)),
    );
  });

  it("calls a tool, and is told bad input and a failure by the tool's own text", async () => {
    const call = (name: string, ...args: string[]) =>
      inspect(...stdio, "--method", "tools/call", "--tool-name", name, ...args.flatMap((each) => ["--tool-arg", each]));
    expect((await call("echo", "text=hello")).out).toContain('"hello"');
    expect((await call("defaults", "owner=a")).out).toContain("a for 600 s");
    const failed = await call("fails");
    expect(failed.out + failed.err).toContain("not_found: no pending task");
    const bad = await call("defaults", "owner=");
    expect(bad.out + bad.err).toMatch(/invalid_input: .*owner/);
  });

  it("over HTTP: with the token, and refused without", async () => {
    const workspace = await tempWorkspace();
    const serving = await serveHttp(toolset(fixtureTools()), {
      directory: workspace.directory,
      onError: () => undefined,
    });
    const header = ["--header", `Authorization: Bearer ${serving.token}`];
    const { code, out } = await inspect(serving.url, ...header, "--method", "tools/list");
    expect(code).toBe(0);
    expect(JSON.parse(out).tools).toHaveLength(fixtureTools().length);
    expect((await inspect(serving.url, "--method", "tools/list")).code).not.toBe(0);
    await serving.close();
    await workspace.remove();
  });
});
