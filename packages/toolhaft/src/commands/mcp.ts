import { isIPv4 } from "node:net";
import { estimateTokens, type Toolset } from "@toolhaft/core";
import { type LazyTools, type ServeOptions, serveStdio } from "@toolhaft/mcp";
import { type SettingFlags, settingsOf } from "../config/settings.ts";
import { CommandFault, exitCodes, usageFault } from "../exit-codes.ts";
import type { FamilyEntry } from "../families.ts";
import type { Io } from "../io.ts";
import { rulesOf, userPolicy } from "../policy.ts";
import { taskOfEnvironment } from "../task-of-environment.ts";
import { checkChoice, loadTools, type ToolChoice } from "../tools.ts";

export interface McpFlags extends SettingFlags {
  store?: string;
  sessions?: readonly string[];
  quiet?: boolean;
  /** A port, or `true` for one that is free. */
  http?: number | true;
  host?: string;
  allowedHost?: readonly string[];
  allowedOrigin?: readonly string[];
  /** `false` by `--no-auth`. */
  auth?: boolean;
}

/** More than this in a listing and a model's window feels it. */
const manyTokens = 8_000;

/** Serves the chosen tools: on standard input and output until the client goes away, or over HTTP until it is stopped. */
export async function mcp(
  families: readonly string[],
  flags: McpFlags,
  io: Io,
  known: readonly FamilyEntry[],
): Promise<number> {
  const settings = settingsOf({ ...flags, families }, io);
  // What is mistyped is said now, not when the first client asks.
  checkChoice(settings, known);
  checkHttpFlags(flags);
  const rules = rulesOf(settings);
  const note = (text: string) => {
    if (!flags.quiet) io.err(`toolhaft: ${text}\n`);
  };
  for (const warning of settings.warnings) note(warning);
  const choice: ToolChoice = { settings, store: flags.store, sessions: flags.sessions, note };
  const load = async () => {
    const set = await loadTools(choice, known);
    const tokens = estimateTokens(set.tools);
    const where = settings.directory ?? `the folder of the client, or ${io.cwd}`;
    const lazily = settings.lazy ? ", loaded by need" : "";
    note(`${set.tools.length} tools, about ${tokens} tokens${lazily}, ${where}, ${policyText(rules.length)}`);
    if (tokens > manyTokens && !settings.lazy)
      note(`over ${manyTokens} tokens of tools: --lazy lists few and finds the rest by need`);
    return set;
  };
  // A misspelt pattern ends the command before a client waits for tools that will never come.
  const early = flags.tools !== undefined || flags.without !== undefined || settings.lazy;
  const set = early ? await load() : undefined;
  const options: ServeOptions = {
    policy: (workspace) => userPolicy(rules, workspace.directory, workspace.roots),
    onError: (error) => note(error.message),
    ...(settings.directory !== undefined && { directory: settings.directory }),
    ...taskOfEnvironment(io),
    ...(settings.structured && { structured: true }),
    ...(settings.lazy && set !== undefined && { lazy: await lazily(set) }),
  };
  if (flags.http !== undefined) return http(set ?? load, options, flags, io);
  const serving = await serveStdio(set ?? load, { ...options, ...(io.stdout && { stdout: io.stdout }) });
  await serving.closed;
  return exitCodes.done;
}

async function lazily(set: Toolset): Promise<LazyTools> {
  const { createMeta } = await import("@toolhaft/meta");
  return createMeta({ tools: set });
}

async function http(
  tools: Toolset | (() => Promise<Toolset>),
  options: ServeOptions,
  flags: McpFlags,
  io: Io,
): Promise<number> {
  const { serveHttp } = await import("@toolhaft/mcp/http");
  const token = io.env.TOOLHAFT_TOKEN || undefined;
  const serving = await serveHttp(tools, {
    ...options,
    ...(typeof flags.http === "number" && { port: flags.http }),
    ...(flags.host !== undefined && { host: flags.host }),
    ...(flags.allowedHost !== undefined && { allowedHosts: flags.allowedHost }),
    ...(flags.allowedOrigin !== undefined && { allowedOrigins: flags.allowedOrigin }),
    ...(flags.auth === false ? { auth: false } : token !== undefined && { token }),
  }).catch((error: unknown) => {
    if (error instanceof TypeError) throw usageFault(error.message.replace(/^serveHttp: /, ""));
    if (error instanceof Error && error.message.startsWith("cannot listen"))
      throw new CommandFault(exitCodes.unavailable, `${error.message}; give another port`);
    throw error;
  });
  // Said whatever --quiet says: without them nobody could connect.
  io.err(`toolhaft: serving ${serving.url}\n`);
  if (serving.token !== undefined) io.err(`toolhaft: Authorization: Bearer ${serving.token}\n`);
  if (flags.auth === false) io.err("toolhaft: --no-auth: every program on this machine can use these tools\n");
  const stop = () => void serving.close();
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"] as const;
  for (const signal of signals) process.once(signal, stop);
  if (io.signal.aborted) stop();
  io.signal.addEventListener("abort", stop, { once: true });
  await serving.closed;
  for (const signal of signals) process.off(signal, stop);
  return exitCodes.done;
}

function checkHttpFlags({ http: on, host, allowedHost, allowedOrigin, auth }: McpFlags): void {
  const given = {
    host,
    "allowed-host": allowedHost,
    "allowed-origin": allowedOrigin,
    "no-auth": auth === false || undefined,
  };
  const [name] = Object.entries(given).find(([, value]) => value !== undefined) ?? [];
  if (on === undefined && name !== undefined) throw usageFault(`--${name} is of use with --http only`);
  if (host !== undefined && isIPv4(host) === false && /\s|\//.test(host))
    throw usageFault(`--host ${host} is no address`);
}

function policyText(rules: number): string {
  if (rules === 0) return "default policy";
  return `default policy and ${rules} ${rules === 1 ? "rule" : "rules"}`;
}
