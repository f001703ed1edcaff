import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { CallFlags } from "./commands/call.ts";
import type { DescribeFlags } from "./commands/describe.ts";
import type { ListFlags } from "./commands/list.ts";
import type { McpFlags } from "./commands/mcp.ts";
import { CommandFault, exitCodes } from "./exit-codes.ts";
import { type FamilyEntry, registry } from "./families.ts";
import type { Io } from "./io.ts";

const profiles = ["mcp", "draft-07", "2020-12", "openai", "openai-strict", "anthropic", "anthropic-strict", "gemini"];

/**
 * Runs one command line and gives its exit code. Standard output only ever holds the result; everything else goes to
 * standard error.
 */
export async function main(
  words: readonly string[],
  io: Io,
  known: readonly FamilyEntry[] = registry,
): Promise<number> {
  let code: number = exitCodes.done;
  const program = createProgram(io, known, (done) => {
    code = done;
  });
  try {
    await program.parseAsync(words, { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage;
    if (error instanceof CommandFault) {
      io.err(`toolhaft: ${error.message}\n`);
      if (error.exitCode === exitCodes.usage) io.err(`usage: ${usageOf(program, words)}\n`);
      return error.exitCode;
    }
    io.err(`toolhaft: ${error instanceof Error ? error.message : String(error)}\n`);
    return exitCodes.failed;
  }
}

/** Each command is one block here and one file under commands/, loaded when it is used. */
function createProgram(io: Io, known: readonly FamilyEntry[], done: (code: number) => void): Command {
  const program = new Command("toolhaft")
    .description("Tools for AI agents: served to any MCP client, or called by hand.")
    .version(
      `toolhaft ${manifest.version}, Node ${process.version}`,
      "-V, --version",
      "print the version and the Node it runs on",
    )
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: io.out,
      writeErr: io.err,
      getOutHelpWidth: () => io.width,
      getErrHelpWidth: () => io.width,
      getOutHasColors: () => io.colours,
      getErrHasColors: () => io.colours,
    })
    .addHelpText(
      "after",
      `
Examples:
  toolhaft mcp hashline memory          serve two families to an MCP client
  toolhaft list                         what there is, and what it costs in tokens
  toolhaft describe hashline_read       all about one tool
  toolhaft call hashline_read '{"filePath":"README.md"}'

Exit codes: 0 done, 1 the tool failed, 2 wrong usage or input, 3 unavailable, 4 denied, 124 time-out, 130 cancelled`,
    );

  const families = known.map(({ name }) => name).join(", ");
  rules(
    choice(program.command("mcp").argument("[families...]", `families to serve: ${families}, all`))
      .description("serve tools to an MCP client on standard input and output")
      .option("--directory <path>", "where relative paths start; else the client's roots, else the working directory")
      .option("--store <path|url>", "where families keep their state", io.env.TOOLHAFT_STORE)
      .option("--structured", "send structured data beside the text")
      .option("--quiet", "print nothing on standard error"),
  ).action(async (names: string[], flags: McpFlags) => {
    const { mcp } = await import("./commands/mcp.ts");
    done(await mcp(names, flags, io, known));
  });

  choice(program.command("list").argument("[families...]", `families to list: ${families}, all`))
    .description("list tools with their hints and token cost")
    .option("--json", "print JSON")
    .addOption(new Option("--profile <profile>", "show what a provider's schema rules refuse").choices(profiles))
    .action(async (names: string[], flags: ListFlags) => {
      const { list } = await import("./commands/list.ts");
      done(await list(names, flags, io, known));
    });

  program
    .command("describe")
    .argument("<tool>", "its name")
    .description("tell all about one tool")
    .addOption(new Option("--schema [profile]", "print its JSON Schema only").choices(profiles))
    .action(async (name: string, flags: DescribeFlags) => {
      const { describe } = await import("./commands/describe.ts");
      done(await describe(name, flags, io, known));
    });

  rules(
    program
      .command("call")
      .argument("<tool>", "its name")
      .argument("<input>", "JSON, @file, or - for standard input")
      .description("run one tool in the current directory")
      .option("--json", "print the whole result as JSON")
      .option("--timeout <seconds>", "stop the tool after this long", seconds)
      .option("--read-only", "refuse every tool that writes")
      .option("--store <path|url>", "where families keep their state", io.env.TOOLHAFT_STORE),
  ).action(async (name: string, input: string, flags: CallFlags) => {
    const { call } = await import("./commands/call.ts");
    done(await call(name, input, flags, io, known));
  });
  return program;
}

/** Which of the families' tools. */
function choice(command: Command): Command {
  return command
    .option("--read-only", "only tools that write nothing")
    .option("--tools <pattern...>", "only tools whose name matches")
    .option("--without <pattern...>", "no tools whose name matches");
}

/** What may be done without asking. */
function rules(command: Command): Command {
  return command
    .option("--allow <rule...>", "allow, e.g. 'file.write:/srv/out/**' or 'memory_*'")
    .option("--deny <rule...>", "never allow; wins over every other rule")
    .option("--ask <rule...>", "ask a person");
}

function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() === "" || !(value > 0) || value > 86_400)
    throw new InvalidArgumentError("a number of seconds from above 0 to 86400.");
  return value;
}

function usageOf(program: Command, words: readonly string[]): string {
  const command = program.commands.find((entry) => entry.name() === words[0]) ?? program;
  const name = command === program ? "toolhaft" : `toolhaft ${command.name()}`;
  return `${name} ${command.usage()}   (more: ${name} --help)`;
}
