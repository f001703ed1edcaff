import { spawnSync } from "node:child_process";
import { delimiter } from "node:path";
import { fileURLToPath } from "node:url";
import { type ContextInit, createContext, type ToolResult } from "@toolhaft/core";
import { createLspTools, type LspTools, type LspToolsOptions } from "../../src/index.ts";

/** Programs of the private package that pins the servers. */
export const serverBin = fileURLToPath(new URL("../servers/node_modules/.bin", import.meta.url));
export const serverModules = fileURLToPath(new URL("../servers/node_modules", import.meta.url));

// the servers of the tests go before whatever this machine has
if (!process.env.PATH?.startsWith(serverBin)) process.env.PATH = [serverBin, process.env.PATH].join(delimiter);

export const hasClangd = ["clangd", "clangd-22", "clangd-19", "clangd-14"].some(
  (program) => spawnSync(program, ["--version"], { stdio: "ignore" }).status === 0,
);
if (!hasClangd) console.warn("SKIPPED: clangd is not installed (apt-get install clangd-19)");

export interface TestFamily extends AsyncDisposable {
  lsp: LspTools;
  directory: string;
  call(tool: string, input?: object, init?: ContextInit): Promise<ToolResult<never>>;
  /** The data of a call that must succeed. */
  ok<T = Record<string, never>>(
    tool: string,
    input?: object,
    init?: ContextInit,
  ): Promise<{ data: T; text: string; result: ToolResult<never> & { ok: true } }>;
  /** The failure of a call that must fail. */
  fails(
    tool: string,
    input?: object,
    init?: ContextInit,
  ): Promise<{
    code: string;
    message: string;
    hint?: string;
    retryable: boolean;
    details?: Record<string, unknown>;
    text: string;
  }>;
}

/** A family over a folder, with everything that servers may need quickly at hand. */
export function familyFor(directory: string, options: LspToolsOptions = {}, init: ContextInit = {}): TestFamily {
  const lsp = createLspTools({ trust: "workspace", ...options });
  const session = createContext({ directory, ...init });
  const call = async (name: string, input: object = {}, more: ContextInit = {}) => {
    const tool = lsp.tools.find((one) => one.name === `lsp_${name}`);
    if (!tool) throw new Error(`no tool lsp_${name}`);
    return (await tool.call(input, { ...session, ...more })) as ToolResult<never>;
  };
  return {
    lsp,
    directory,
    call,
    async ok(name, input, more) {
      const result = await call(name, input, more);
      if (!result.ok) throw new Error(`lsp_${name} failed: ${result.text}`);
      return { data: result.data, text: result.text, result };
    },
    async fails(name, input, more) {
      const result = await call(name, input, more);
      if (result.ok) throw new Error(`lsp_${name} succeeded: ${result.text}`);
      return { ...result.error, text: result.text } as never;
    },
    [Symbol.asyncDispose]: () => lsp.close(),
  };
}
