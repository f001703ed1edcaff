import { type Family, toolset } from "@toolhaft/core";
import { tempWorkspace } from "@toolhaft/testing";
import { type FixtureOptions, fixtureTools } from "@toolhaft/testing/fixture-tools";
import type { FamilyEntry } from "../src/families.ts";
import type { Io } from "../src/io.ts";
import { main } from "../src/main.ts";

const home = (await tempWorkspace()).directory;

export interface Ran {
  code: number;
  out: string;
  err: string;
}

export interface RunOptions {
  cwd?: string;
  input?: string;
  /** Answers of a person at the terminal, in order. */
  answers?: string[];
  colours?: boolean;
  signal?: AbortSignal;
  env?: NodeJS.ProcessEnv;
  fixture?: FixtureOptions;
}

/** Two small families in place of the real ones: loading them is counted. */
export function fixtureRegistry(options: FixtureOptions = {}): readonly FamilyEntry[] & { loaded: string[] } {
  const loaded: string[] = [];
  const family = (name: string, wanted: (tool: string) => boolean): FamilyEntry => ({
    name,
    byDefault: name === "fixture",
    async load() {
      loaded.push(name);
      const set = toolset(fixtureTools(options).filter((tool) => wanted(tool.name)));
      const made: Family = {
        name,
        tools: set.tools,
        close: async () => undefined,
        [Symbol.asyncDispose]: async () => undefined,
      };
      return made;
    },
  });
  const entries = [family("fixture", (name) => name !== "slow"), family("waiting", (name) => name === "slow")];
  return Object.assign(entries, { loaded });
}

/** Runs one command line as the program does, on streams that are looked at afterwards. */
export async function command(
  words: readonly string[],
  options: RunOptions = {},
  known: readonly FamilyEntry[] = fixtureRegistry(options.fixture),
): Promise<Ran> {
  const ran: Ran = { code: -1, out: "", err: "" };
  const answers = [...(options.answers ?? [])];
  const io: Io = {
    out: (text) => {
      ran.out += text;
    },
    err: (text) => {
      ran.err += text;
    },
    readInput: async () => options.input ?? "",
    ask:
      options.answers === undefined
        ? undefined
        : async (question) => {
            ran.err += question;
            return answers.shift() ?? "";
          },
    colours: options.colours ?? false,
    width: 100,
    cwd: options.cwd ?? (await tempWorkspace()).directory,
    // Nobody's own settings play a part.
    env: { HOME: home, ...options.env },
    signal: options.signal ?? new AbortController().signal,
  };
  ran.code = await main(words, io, known);
  return ran;
}
