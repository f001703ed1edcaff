import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Files, type TempWorkspace, tempWorkspace } from "@toolhaft/testing";
import type { LspToolsOptions, ServerDefinition } from "../../src/index.ts";
import { familyFor, type TestFamily } from "./family.ts";

const fakeServer = fileURLToPath(new URL("fake-server.mjs", import.meta.url));

export interface WireMessage {
  direction: "in" | "out";
  method?: string;
  id?: number | string;
  params?: Record<string, unknown> & { textDocument?: { uri: string; version?: number } };
  result?: unknown;
  error?: { code: number };
}

export interface Fake extends AsyncDisposable {
  workspace: TempWorkspace;
  family: TestFamily;
  /** Everything that went over the wire, as the server saw it. */
  wire(): WireMessage[];
  received(method: string): WireMessage[];
}

export interface FakeOptions extends Omit<LspToolsOptions, "files"> {
  files?: Files;
  definition?: Partial<ServerDefinition>;
  /** Further fakes beside the first, by id. */
  more?: Record<string, { scenario: string; definition?: Partial<ServerDefinition> }>;
}

/** A family whose only servers are scripted; a scenario is the body of `(server) => …`. Files end in `.fake`. */
export async function fake(scenario: string, options: FakeOptions = {}): Promise<Fake> {
  const { files, definition, more = {}, ...rest } = options;
  const tools = await tempWorkspace();
  const workspace = await tempWorkspace({ "a.fake": "foo();\nbar foo\n", ...files });
  const servers: Record<string, Partial<ServerDefinition> | false> = {};
  const define = async (id: string, body: string, extra: Partial<ServerDefinition> = {}) => {
    await tools.write({ [`${id}.mjs`]: `export default async (server) => {\n${body}\n};\n` });
    servers[id] = {
      command: process.execPath,
      args: [fakeServer, tools.path(`${id}.mjs`), tools.path(`${id}.log`)],
      files: [{ languageId: "fake", extensions: [".fake"] }],
      root: { markers: ["fake.root"], pick: "nearest" },
      install: [{ with: "npm", what: id }],
      ready: { by: "none" },
      ...extra,
    };
  };
  await define("fake", scenario, definition);
  for (const [id, one] of Object.entries(more)) await define(id, one.scenario, one.definition);
  const family = familyFor(workspace.directory, { ...rest, servers });
  const wire = () => {
    const path = join(tools.directory, "fake.log");
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, "utf8")
      .split("\n")
      .filter((line) => line.endsWith("}"));
    return lines.map((line) => JSON.parse(line) as WireMessage);
  };
  return {
    workspace,
    family,
    wire,
    received: (method) => wire().filter((one) => one.direction === "in" && one.method === method),
    async [Symbol.asyncDispose]() {
      await family[Symbol.asyncDispose]();
      await workspace.remove();
      await tools.remove();
    },
  };
}

/** Waits until a condition holds; the test's own limit ends it otherwise. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
}
