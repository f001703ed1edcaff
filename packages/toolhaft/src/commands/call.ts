import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { type Asker, createContext, type ProgressUpdate, resultToJson, timeout, toolset } from "@toolhaft/core";
import { type SettingFlags, settingsOf } from "../config/settings.ts";
import { exitCodeOf, exitCodes, usageFault } from "../exit-codes.ts";
import type { FamilyEntry } from "../families.ts";
import type { Io } from "../io.ts";
import { rulesOf, userPolicy } from "../policy.ts";
import { taskOfEnvironment } from "../task-of-environment.ts";
import { findTool } from "../tools.ts";

export interface CallFlags extends SettingFlags {
  json?: boolean;
  /** Seconds. */
  timeout?: number;
  store?: string;
  sessions?: readonly string[];
}

/** Runs one tool in the current directory. */
export async function call(
  name: string,
  given: string,
  flags: CallFlags,
  io: Io,
  known: readonly FamilyEntry[],
): Promise<number> {
  const settings = settingsOf(flags, io);
  const directory = settings.directory ?? io.cwd;
  const rules = rulesOf(settings);
  const input = parseInput(await readGiven(given, io));
  const note = (text: string) => io.err(`toolhaft: ${text}\n`);
  for (const warning of settings.warnings) note(warning);
  const { tool, set } = await findTool(name, { settings, store: flags.store, sessions: flags.sessions, note }, known);
  try {
    const limited =
      flags.timeout === undefined
        ? tool
        : (toolset(tool).wrap(timeout({ ms: flags.timeout * 1_000 })).tools[0] ?? tool);
    const context = createContext({
      directory,
      agent: "cli",
      policy: userPolicy(rules, directory, [directory]),
      ...taskOfEnvironment(io),
      ...(io.ask && { asker: terminalAsker(io.ask) }),
    });
    const result = await limited.call(input, {
      ...context,
      signal: io.signal,
      progress: (update) => io.err(progressLine(update)),
    });
    if (flags.json) io.out(`${resultToJson(tool, result)}\n`);
    else if (result.ok) io.out(result.text.endsWith("\n") ? result.text : `${result.text}\n`);
    else io.err(`${result.text}\n`);
    return result.ok ? exitCodes.done : exitCodeOf(result.error.code);
  } finally {
    await set.close();
  }
}

/** The argument itself, a file after `@`, or standard input for `-`. */
async function readGiven(given: string, io: Io): Promise<string> {
  if (given === "-") {
    const text = await io.readInput();
    if (text.trim() === "") throw usageFault("standard input holds no JSON: pipe the tool's input into this command");
    return text;
  }
  if (!given.startsWith("@")) return given;
  try {
    return readFileSync(resolve(io.cwd, given.slice(1)), "utf8");
  } catch (error) {
    throw usageFault(`${given}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch (error) {
    throw usageFault(
      `the input is no JSON: ${error instanceof Error ? error.message : String(error)}. Give an object such as '{"name":"value"}', @file or -`,
    );
  }
}

function progressLine({ message, progress, total }: ProgressUpdate): string {
  const count = progress === undefined ? "" : total === undefined ? `${progress}` : `${progress}/${total}`;
  return `${[count, message].filter((part) => part !== undefined && part !== "").join(" ")}\n`;
}

/** Asks on the terminal; whatever is not a clear yes is a no, and its words go to the tool. */
function terminalAsker(ask: (question: string) => Promise<string>): Asker {
  return async ({ tool, permission, resources, reason }) => {
    const answer = (
      await ask(
        `${tool} asks for ${permission} ${resources.join(", ")} (${reason}). Allow? [y]es once, [s]ession, [N]o: `,
      )
    ).trim();
    if (/^y(es)?$/i.test(answer)) return { allow: true };
    if (/^s(ession)?$/i.test(answer)) return { allow: true, remember: "session" };
    return answer === "" || /^no?$/i.test(answer) ? { allow: false } : { allow: false, feedback: answer };
  };
}
