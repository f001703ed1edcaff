import type { RunRequest, SubagentRunner } from "../runner.ts";
import { type PassedEnvironment, pickVariables } from "./environment.ts";
import { processRunner } from "./process.ts";
import type { AgentProtocol } from "./protocol.ts";

export type Access = "read-only" | "edit" | "full";

export interface PresetOptions {
  /** What the program may do. `full` is asked for (`dispatch.full_access`). @default "edit" */
  access?: Access;
  /** Lets it work in a folder that it does not know. @default false */
  trustDirectory?: boolean;
  /** Passed to the program and the agent's lane. @default the program's own choice */
  model?: string;
  /** Name or path of the program. */
  command?: string;
  /** More arguments, before the others. */
  args?: readonly string[];
  /** Names to pass on from this process, or values to set, beside those the program needs. */
  env?: PassedEnvironment;
  directory?: string;
}

/** What one program is started with. */
export interface Preset {
  name: string;
  install: string;
  variables: readonly string[];
  usage: "tokens" | "cost";
  args(request: RunRequest, options: PresetOptions & { access: Access }): readonly string[];
  env?(options: { access: Access }): Readonly<Record<string, string>>;
  protocol: AgentProtocol;
  exitCodes?: Readonly<Record<number, string>>;
}

/** A runner for a known agent program. */
export function presetRunner(preset: Preset, options: PresetOptions): SubagentRunner {
  const access = options.access ?? "edit";
  if (!["read-only", "edit", "full"].includes(access))
    throw new TypeError(`${preset.name}: access is "${access}"; it may be read-only, edit or full`);
  const { env } = options;
  const passed = (): Record<string, string> => ({
    ...pickVariables(preset.variables),
    ...preset.env?.({ access }),
    ...(Array.isArray(env) ? pickVariables(env) : (env as Readonly<Record<string, string>> | undefined)),
  });
  return processRunner({
    name: preset.name,
    command: options.command ?? preset.name,
    args: (request) => [...(options.args ?? []), ...preset.args(request, { ...options, access })],
    parse: preset.protocol,
    env: passed,
    install: preset.install,
    caps: { resume: true, usage: preset.usage },
    ...(preset.exitCodes !== undefined && { exitCodes: preset.exitCodes }),
    ...(options.model !== undefined && { model: options.model }),
    ...(options.directory !== undefined && { directory: options.directory }),
    ...(access === "full" && { permissions: ["dispatch.full_access"] }),
  });
}
