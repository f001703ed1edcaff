import { ToolError } from "@toolhaft/core";
import type { ServerDefinition } from "./definition.ts";
import type { LaunchPlan, Refused } from "./launch.ts";

/** What to say of a server that cannot be started here. */
export function notUsable(definition: ServerDefinition, plan: LaunchPlan, refused: readonly Refused[]): ToolError {
  const install = installLine(definition);
  const words = refused.map((one) => `${one.program} does not work: ${one.words}`).join("; ");
  if (refused.length > 0) {
    const stub =
      definition.stub && new RegExp(definition.stub.matches, "i").test(words) ? definition.stub.install : install;
    return new ToolError("unavailable", `${definition.id} cannot be started: ${words}`, {
      hint: stub,
      details: { state: "failed", server: definition.id },
    });
  }
  if (plan.untrusted.length > 0) {
    return new ToolError("denied", `${plan.untrusted[0]} is a program of this folder and was not allowed to run`, {
      hint: `allow workspace.run for this folder, or install it outside: ${install}`,
      details: { server: definition.id },
    });
  }
  return new ToolError(
    "unavailable",
    `${definition.id} is not installed: no ${definition.command} here or on the PATH`,
    {
      hint: install,
      details: { state: "missing", server: definition.id },
    },
  );
}

/** "npm install -g …": the command that installs a server. */
export function installLine(definition: ServerDefinition): string {
  return installLines(definition).join(" && ");
}

export function installLines(definition: ServerDefinition): string[] {
  const lines: Record<string, (what: string) => string> = {
    npm: (what) => `npm install -g ${what}`,
    apt: (what) => `sudo apt-get install ${what}`,
    go: (what) => `go install ${what}`,
    cargo: (what) => `cargo install ${what}`,
    rustup: (what) => `rustup component add ${what}`,
    pip: (what) => `pip install ${what}`,
    gem: (what) => `gem install ${what}`,
    dotnet: (what) => `dotnet tool install --global ${what}`,
    brew: (what) => `brew install ${what}`,
    opam: (what) => `opam install ${what}`,
    site: (what) => `see ${what}`,
  };
  return definition.install.map((one) => lines[one.with]?.(one.what) ?? one.what);
}
