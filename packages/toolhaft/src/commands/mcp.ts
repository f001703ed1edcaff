import { realpathSync, statSync } from "node:fs";
import { resolve } from "node:path";
import { estimateTokens } from "@toolhaft/core";
import { serveStdio } from "@toolhaft/mcp";
import { exitCodes, usageFault } from "../exit-codes.ts";
import { chooseFamilies, type FamilyEntry } from "../families.ts";
import type { Io } from "../io.ts";
import { type RuleFlags, rulesOf, userPolicy } from "../policy.ts";
import { loadTools } from "../tools.ts";

export interface McpFlags extends RuleFlags {
  directory?: string;
  readOnly?: boolean;
  tools?: readonly string[];
  without?: readonly string[];
  store?: string;
  structured?: boolean;
  quiet?: boolean;
}

/** More than this in a listing and a model's window feels it. */
const manyTokens = 8_000;

/** Serves the chosen families on standard input and output until the client goes away. */
export async function mcp(
  families: readonly string[],
  flags: McpFlags,
  io: Io,
  known: readonly FamilyEntry[],
): Promise<number> {
  // What is mistyped is said now, not when the first client asks.
  chooseFamilies(families, known);
  const rules = rulesOf(flags);
  const directory = flags.directory === undefined ? undefined : folder(flags.directory, io.cwd);
  const note = (text: string) => {
    if (!flags.quiet) io.err(`toolhaft: ${text}\n`);
  };
  const load = async () => {
    const set = await loadTools({ ...flags, families }, known);
    const tokens = estimateTokens(set.tools);
    const rulesText =
      rules.length === 0
        ? "default policy"
        : `default policy and ${rules.length} ${rules.length === 1 ? "rule" : "rules"}`;
    note(
      `${set.tools.length} tools, about ${tokens} tokens, ${directory ?? `the folder of the client, or ${io.cwd}`}, ${rulesText}`,
    );
    if (tokens > manyTokens) note(`over ${manyTokens} tokens of tools: name fewer families, or take --tools`);
    return set;
  };
  // A misspelt pattern ends the command before a client waits for tools that will never come.
  const ready = flags.tools !== undefined || flags.without !== undefined ? await load() : load;
  const serving = await serveStdio(ready, {
    policy: (workspace) => userPolicy(rules, workspace.directory, workspace.roots),
    onError: (error) => note(error.message),
    ...(directory !== undefined && { directory }),
    ...(flags.structured && { structured: true }),
    ...(io.stdout && { stdout: io.stdout }),
  });
  await serving.closed;
  return exitCodes.done;
}

/** An existing folder, or the reason why not. */
function folder(path: string, cwd: string): string {
  const absolute = resolve(cwd, path);
  let isFolder = false;
  try {
    isFolder = statSync(absolute).isDirectory();
  } catch (error) {
    throw usageFault(`--directory ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isFolder) throw usageFault(`--directory ${path}: this is no folder`);
  return realpathSync(absolute);
}
