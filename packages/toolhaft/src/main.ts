import { Argument, Command, CommanderError, InvalidArgumentError, Option } from "commander";
import manifest from "../package.json" with { type: "json" };
import type { CallFlags } from "./commands/call.ts";
import type { DescribeFlags } from "./commands/describe.ts";
import type { DoctorFlags } from "./commands/doctor.ts";
import type { InitFlags } from "./commands/init.ts";
import type { ListFlags } from "./commands/list.ts";
import type { McpFlags } from "./commands/mcp.ts";
import type { MemoryAction, MemoryFlags } from "./commands/memory.ts";
import { complete, shells } from "./completion.ts";
import { CommandFault, exitCodes } from "./exit-codes.ts";
import { type FamilyEntry, registry, sessionHosts } from "./families.ts";
import { clients } from "./init/clients.ts";
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
    // A shell asks what may stand next; its words are no command line to be checked.
    if (words[0] === "complete" && words[1] === "--")
      await complete(program, io, { words: words.slice(2) }, completions(known));
    else if (words[0] === "--version" || words[0] === "-V") {
      const { versionLine } = await import("./commands/version.ts");
      io.out(`${await versionLine()}\n`);
    } else await program.parseAsync(words, { from: "user" });
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
      "print the version, the Node it runs on and the SQLite driver",
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
      .description("serve tools to MCP clients on standard input and output, or over HTTP")
      .option("--directory <path>", "where relative paths start; else the client's roots, else the working directory")
      .option("--lazy", "list few tools; the rest is found and loaded by need")
      .option("--store <folder>", "where families keep their state (TOOLHAFT_STORE)", io.env.TOOLHAFT_STORE)
      .option("--sessions <host...>", `read the sessions of ${sessionHosts.join(", ")}`)
      .option("--structured", "send structured data beside the text")
      .option("--http [port]", "serve over HTTP on 127.0.0.1, on a free port unless one is given", port)
      .option("--host <address>", "listen on this address; needs --allowed-host and TOOLHAFT_TOKEN")
      .option("--allowed-host <name...>", "names that clients call this server by")
      .option("--allowed-origin <origin...>", "web pages that may call, such as https://app.example")
      .option("--no-auth", "ask for no token; on this machine only")
      .option("--quiet", "print nothing but what a client needs"),
  )
    .addHelpText(
      "after",
      `
Examples:
  toolhaft mcp                             the default families, for a client that starts this command
  toolhaft mcp memory --read-only          one family, tools that read
  toolhaft mcp all --lazy --http 4711      every family over HTTP, found by need`,
    )
    .action(async (names: string[], flags: McpFlags) => {
      const { mcp } = await import("./commands/mcp.ts");
      done(await mcp(names, flags, io, known));
    });

  choice(program.command("list").argument("[families...]", `families to list: ${families}, all`))
    .description("list tools with their hints and token cost")
    .option("--json", "print JSON")
    .addOption(new Option("--profile <profile>", "show what a provider's schema rules refuse").choices(profiles))
    .addHelpText("after", "\nExample:\n  toolhaft list memory web --profile gemini")
    .action(async (names: string[], flags: ListFlags) => {
      const { list } = await import("./commands/list.ts");
      done(await list(names, flags, io, known));
    });

  program
    .command("describe")
    .argument("<tool>", "its name")
    .description("tell all about one tool")
    .addOption(new Option("--schema [profile]", "print its JSON Schema only").choices(profiles))
    .addOption(configOption())
    .addHelpText("after", "\nExample:\n  toolhaft describe hashline_edit --schema openai-strict")
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
      .option("--directory <path>", "where relative paths start; else the current directory")
      .option("--store <folder>", "where families keep their state (TOOLHAFT_STORE)", io.env.TOOLHAFT_STORE)
      .option("--sessions <host...>", `read the sessions of ${sessionHosts.join(", ")}`)
      .addOption(configOption())
      .addHelpText("after", '\nExample:\n  toolhaft call hashline_read \'{"filePath":"README.md"}\' --json'),
  ).action(async (name: string, input: string, flags: CallFlags) => {
    const { call } = await import("./commands/call.ts");
    done(await call(name, input, flags, io, known));
  });

  program
    .command("doctor")
    .description("look at what the tools need; changes nothing")
    .option("--json", "print JSON")
    .option("--pin", "print the hashes of bridged servers' tools, to be kept as pins")
    .addOption(configOption())
    .addHelpText("after", "\nExample:\n  toolhaft doctor --json")
    .action(async (flags: DoctorFlags) => {
      const { doctor } = await import("./commands/doctor.ts");
      done(await doctor(flags, io, known));
    });

  program
    .command("init")
    .argument("<client>", `one of ${clients.map(({ name }) => name).join(", ")}`)
    .argument("[families...]", "families that it shall be served")
    .description("settings that make a client start this server: printed, or written")
    .option("--write", "put them into the client's file; what is there stays")
    .option("--global", "for all of your projects, not this folder only")
    .option("--force", "put them in the place of another entry for toolhaft")
    .option("--windows", "start npx by cmd /c, as Windows needs it")
    .addOption(new Option("--format <version>", "opencode: settings of version 1 or 2").choices(["v1", "v2"]))
    .addHelpText("after", "\nExample:\n  toolhaft init vscode --write")
    .action(async (client: string, names: string[], flags: InitFlags) => {
      const { init } = await import("./commands/init.ts");
      done(init(client, names, flags, io, known));
    });

  for (const word of ["trust", "untrust"] as const) {
    program
      .command(word)
      .description(
        word === "trust" ? "take this folder's toolhaft.config.json, as it is now, for your own" : "take that back",
      )
      .addHelpText("after", `\nExample:\n  toolhaft ${word}`)
      .action(async () => {
        const commands = await import("./commands/trust.ts");
        done(commands[word](io));
      });
  }

  program
    .command("memory")
    .addArgument(new Argument("<action>", "what to do").choices(["export", "import", "check", "repair", "purge"]))
    .argument("[file]", "JSON Lines: read by import, written by export (else standard output)")
    .description("what a person may do with the memories and no tool")
    .option("--store <folder>", "where families keep their state (TOOLHAFT_STORE)", io.env.TOOLHAFT_STORE)
    .option("--json", "print JSON")
    .option("--idle <days>", "purge: only what nobody has used for so long", days)
    .option("--yes", "purge: yes, for good")
    .addOption(new Option("--on-conflict <what>", "import: an id that is there").choices(["skip", "newer", "error"]))
    .addHelpText("after", "\nExample:\n  toolhaft memory export memories.jsonl")
    .action(async (action: MemoryAction, file: string | undefined, flags: MemoryFlags) => {
      const { memory } = await import("./commands/memory.ts");
      done(await memory(action, file, flags, io));
    });

  program
    .command("complete")
    .addArgument(new Argument("<shell>", "whose script to print").choices([...shells]))
    .description("print a script that completes commands, flags and names")
    .addHelpText("after", "\nExample:\n  source <(toolhaft complete bash)")
    .action(async (shell: string) => {
      await complete(program, io, { shell }, completions(known));
    });
  return program;
}

function completions(known: readonly FamilyEntry[]) {
  return {
    families: [...known.map(({ name }) => name), "all"],
    client: clients.map(({ name }) => name),
    sessions: sessionHosts,
  };
}

function configOption(): Option {
  return new Option("--config <file>", "settings in place of this folder's toolhaft.config.json");
}

function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535) throw new InvalidArgumentError("a port from 0 to 65535.");
  return value;
}

function days(text: string): number {
  const value = Number(text);
  if (!/^\d{1,6}$/.test(text)) throw new InvalidArgumentError("a whole number of days.");
  return value;
}

/** Which of the families' tools. */
function choice(command: Command): Command {
  return command
    .option("--read-only", "only tools that write nothing")
    .option("--tools <pattern...>", "only tools whose name matches")
    .option("--without <pattern...>", "no tools whose name matches")
    .addOption(configOption());
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
