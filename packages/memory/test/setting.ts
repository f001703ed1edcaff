import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type AnyTool, type ContextInit, createContext, type Family, type ToolResult } from "@toolhaft/core";
import { onTestFinished } from "vitest";
import { z } from "zod";
import { createMemory, type MemoryFamily, type MemoryOptions } from "../src/index.ts";

/** A real folder that is gone after the test. */
export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "toolhaft-memory-")));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function closeAfterTest<F extends Family>(family: F): F {
  onTestFinished(() => family.close());
  return family;
}

export type Call = (tool: string, input: Record<string, unknown>, init?: ContextInit) => Promise<ToolResult>;

/** Calls tools of a family by name, in one folder and, unless said otherwise, one session of role `main`. */
export function caller(family: Family, directory: string): Call {
  const session = createContext({ directory }).sessionId;
  return (tool, input, init = {}) => {
    const found = family.tools.find(({ name }) => name === tool);
    if (!found) throw new Error(`no tool ${tool}`);
    return (found as AnyTool).call(input, { directory, sessionId: session, ...init });
  };
}

const written = z.object({ memory: z.object({ id: z.string() }), status: z.string() });
const recalled = z.object({
  hits: z.array(z.object({ id: z.string(), title: z.string(), excerpt: z.string() }).loose()),
});

export interface Setting {
  family: MemoryFamily;
  directory: string;
  path: string;
  call: Call;
  /** Writes in scope workspace and gives the id. */
  W(title: string, content: string, more?: Record<string, unknown>, init?: ContextInit): Promise<string>;
  /** Titles of the hits. */
  R(query: string, more?: Record<string, unknown>, init?: ContextInit): Promise<string[]>;
}

export function setting(options: MemoryOptions = {}): Setting {
  const directory = temporaryFolder();
  const family = closeAfterTest(createMemory(options));
  const call = caller(family, directory);
  return {
    family,
    directory,
    path: options.path ?? join(directory, ".toolhaft", "memory.db"),
    call,
    async W(title, content, more = {}, init = {}) {
      const data = written.parse(
        dataOf(await call("memory_write", { title, content, scope: "workspace", ...more }, init)),
      );
      return data.memory.id;
    },
    async R(query, more = {}, init = {}) {
      const data = recalled.parse(dataOf(await call("memory_recall", { query, ...more }, init)));
      return data.hits.map(({ title }) => title);
    },
  };
}

/** Data of a success; a failure ends the test with its text. */
export function dataOf(result: ToolResult): Record<string, unknown> {
  if (!result.ok) throw new Error(result.text);
  return result.data as Record<string, unknown>;
}

export function errorOf(result: ToolResult) {
  if (result.ok) throw new Error(`expected a failure, got: ${result.text}`);
  return result.error;
}
