import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type AnyTool, createContext, type ToolContext, type ToolResult } from "@toolhaft/core";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "@toolhaft/workspace";
import { afterEach, expect } from "vitest";
import { createHashline, type Hashline } from "../src/hashline.ts";
import type { HashlineOptions } from "../src/options.ts";
import type { HashlineEditData } from "../src/tools/edit.ts";
import type { HashlineReadData } from "../src/tools/read.ts";

export type EditInput = {
  op?: "replace" | "append" | "prepend";
  pos?: string;
  end?: string;
  lines?: string | string[];
  from?: string;
};

/** A folder of real files with the family's tools on it, as one session. */
export interface Desk {
  readonly directory: string;
  readonly hashline: Hashline;
  readonly workspace: Workspace;
  readonly context: ToolContext;
  put(name: string, content: string | Uint8Array): void;
  text(name: string): string;
  bytes(name: string): Buffer;
  call(tool: string, input: unknown, context?: ToolContext): Promise<ToolResult>;
  /** A call that must succeed. */
  ok<T>(tool: string, input: unknown, context?: ToolContext): Promise<{ text: string; data: T }>;
  read(filePath: string, input?: { offset?: number; limit?: number }): Promise<HashlineReadData>;
  edit(filePath: string, version: string, edits: EditInput[], more?: object): Promise<ToolResult>;
  edited(filePath: string, version: string, edits: EditInput[], more?: object): Promise<HashlineEditData>;
  /** Reads the file and writes one call in the notation of the cases: `R3..5`, `A3`, `P3`, `A$`, `P^`, `D3`. */
  notation(filePath: string, edits: readonly Shorthand[], seen?: HashlineReadData): Promise<ToolResult>;
  session(): ToolContext;
}

export type Shorthand = readonly [place: string, lines?: string | string[]];

const open: { directory: string; close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const { directory, close } of open.splice(0)) {
    await close();
    rmSync(directory, { recursive: true, force: true });
    rmSync(`${directory}-locks`, { recursive: true, force: true });
  }
});

export function desk(options: HashlineOptions = {}, workspaceOptions: Partial<WorkspaceOptions> = {}): Desk {
  const directory = mkdtempSync(join(tmpdir(), "hashline-"));
  const workspace = createWorkspace({
    root: directory,
    lockDir: `${directory}-locks`,
    fsync: false,
    ...workspaceOptions,
  });
  const hashline = createHashline({ workspace, ...options });
  open.push({
    directory,
    close: async () => {
      await hashline.close();
      await workspace.close();
    },
  });
  const context = createContext({ directory });
  const at = (name: string) => join(directory, name);

  const call: Desk["call"] = (name, input, ctx = context) => toolOf(hashline, name).call(input, ctx);
  const ok: Desk["ok"] = async <T>(name: string, input: unknown, ctx?: ToolContext) => {
    const result = await call(name, input, ctx);
    if (!result.ok) throw new Error(result.text);
    return { text: result.text, data: result.data as T };
  };
  const read: Desk["read"] = async (filePath, input = {}) =>
    (await ok<HashlineReadData>("hashline_read", { filePath, ...input })).data;
  const edit: Desk["edit"] = (filePath, version, edits, more = {}) =>
    call("hashline_edit", { files: [{ filePath, version, edits }], ...more });
  return {
    directory,
    hashline,
    workspace,
    context,
    put(name, content) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), content);
    },
    text: (name) => readFileSync(at(name), "utf8"),
    bytes: (name) => readFileSync(at(name)),
    call,
    ok,
    read,
    edit,
    async edited(filePath, version, edits, more) {
      const result = await edit(filePath, version, edits, more);
      if (!result.ok) throw new Error(result.text);
      return result.data as HashlineEditData;
    },
    async notation(filePath, edits, seen) {
      const known = seen ?? (await read(filePath));
      return edit(
        filePath,
        known.version,
        edits.map(([place, lines]) => shorthand(place, lines, known)),
      );
    },
    session: () => createContext({ directory }),
  };
}

export function toolOf(hashline: Hashline, name: string): AnyTool {
  const tool = hashline.tools.find((one) => one.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool;
}

export function anchorIn(read: Pick<HashlineReadData, "lines">, line: number): string {
  const found = read.lines.find((one) => one.line === line);
  if (!found) throw new Error(`line ${line} was not read`);
  return `${line}#${found.hash}`;
}

export function shorthand(place: string, lines: string | string[] | undefined, read: HashlineReadData): EditInput {
  const match = /^([RAPD])(?:(\d+)(?:\.\.(\d+))?|[$^])$/.exec(place);
  if (!match) throw new Error(`not a place: ${place}`);
  const [, kind, first, last] = match;
  const op = kind === "A" ? "append" : kind === "P" ? "prepend" : "replace";
  return {
    op,
    ...(first === undefined ? {} : { pos: anchorIn(read, Number(first)) }),
    ...(last === undefined ? {} : { end: anchorIn(read, Number(last)) }),
    lines: kind === "D" ? [] : (lines ?? []),
  };
}

/** A rejected call says so first, and changes nothing. */
export function expectRejected(result: ToolResult, code: string, words?: RegExp | string): void {
  expect(result.text).toMatch(/^Rejected, nothing written\. /);
  expect(result).toMatchObject({ ok: false, error: { code } });
  if (words !== undefined) expect(result.text).toMatch(words);
}

export function data<T>(result: ToolResult): T {
  if (!result.ok) throw new Error(result.text);
  return result.data as T;
}

export function warningsOf(result: ToolResult): string[] {
  return data<HashlineEditData>(result).warnings.map(({ code }) => code);
}
