import type { Command as Program } from "commander";
import type { Io } from "./io.ts";

export const shells = ["bash", "zsh", "fish", "powershell"] as const;

/** Prints the script that a shell loads, or, for words after `--`, what may stand next. */
export async function complete(
  program: Program,
  io: Io,
  request: { shell: string } | { words: readonly string[] },
  choices: Readonly<Record<string, readonly string[]>>,
): Promise<void> {
  const { RootCommand } = await import("@bomb.sh/tab");
  const root = new RootCommand();
  for (const command of program.commands) {
    const name = command.name();
    const entry = root.command(name, command.description());
    for (const option of command.options) {
      if (option.long === undefined || option.long === null) continue;
      const long = option.long.slice(2);
      const values = option.argChoices ?? choices[long];
      if (!option.required && !option.optional) entry.option(long, option.description, option.short?.slice(1));
      else
        entry.option(long, option.description, (done) => {
          for (const value of values ?? []) done(value, "");
        });
    }
    for (const argument of command.registeredArguments) {
      const values = argument.argChoices ?? choices[argument.name()] ?? [];
      entry.argument(
        argument.name(),
        (done) => {
          for (const value of values) done(value, "");
        },
        argument.variadic,
      );
    }
  }
  // The library prints by itself.
  const { log } = console;
  console.log = (...parts: unknown[]) => io.out(`${parts.join(" ")}\n`);
  try {
    if ("shell" in request) root.setup("toolhaft", "toolhaft", request.shell);
    else root.parse([...request.words]);
  } finally {
    console.log = log;
  }
}
