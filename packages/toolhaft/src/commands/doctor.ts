import { join } from "node:path";
import type { Settings } from "../config/load.ts";
import { settingsOf } from "../config/settings.ts";
import {
  type Check,
  checkBrowser,
  checkGit,
  checkLanguages,
  checkNode,
  checkPostgres,
  checkSearch,
  checkServers,
  checkSqlite,
  checkState,
} from "../doctor/checks.ts";
import { CommandFault, exitCodes } from "../exit-codes.ts";
import { type FamilyEntry, registry } from "../families.ts";
import type { Io } from "../io.ts";
import { columns } from "../table.ts";
import { openServer } from "../tools.ts";

export interface DoctorFlags {
  json?: boolean;
  pin?: boolean;
  config?: string;
}

const storing = ["memory", "session", "tasks"];

/** Looks at what the tools need, and changes nothing. */
export async function doctor(flags: DoctorFlags, io: Io, known: readonly FamilyEntry[] = registry): Promise<number> {
  if (flags.pin) return pins(flags, io);
  const { settings, checks: config } = readSettings(flags, io);
  const directory = settings?.directory ?? io.cwd;
  const store = io.env.TOOLHAFT_STORE;
  const postgres = store !== undefined && /^postgres(ql)?:\/\//.test(store);
  const chosen = settings?.families ?? known.filter(({ byDefault }) => byDefault).map(({ name }) => name);
  const families = chosen.includes("all") ? known.map(({ name }) => name) : chosen;
  const checks = [
    checkNode(),
    await checkSqlite(storing.some((name) => families.includes(name))),
    await checkState(postgres || store === undefined ? join(directory, ".toolhaft") : store),
    await checkGit(io),
    ...(settings === undefined ? [] : await checkLanguages(directory, settings)),
    await checkBrowser(io),
    checkSearch(),
    ...(postgres ? [await checkPostgres(store)] : []),
    ...config,
    ...(settings === undefined ? [] : await checkServers(settings, io)),
    ...families.flatMap((name): Check[] =>
      known.some((family) => family.name === name) || settings?.mcpServers[name] !== undefined
        ? []
        : [{ name: `family ${name}`, status: "missing", detail: "no family of this name is installed", chosen: true }],
    ),
  ];
  if (flags.json) io.out(`${JSON.stringify(checks, null, 2)}\n`);
  else {
    io.out(
      columns(
        ["status", "what", "detail"],
        checks.map(({ status, name, detail }) => [status, name, detail]),
        io,
      ),
    );
    const lines = checks.filter(({ install }) => install !== undefined);
    if (lines.length > 0) io.out("\nTo mend it:\n");
    for (const { name, install } of lines) io.out(`  ${name}: ${install}\n`);
  }
  return checks.some((check) => check.chosen && check.status !== "ok") ? exitCodes.failed : exitCodes.done;
}

/** A config that cannot be read is one line of the report, not its end. */
function readSettings(flags: DoctorFlags, io: Io): { settings: Settings | undefined; checks: Check[] } {
  try {
    const settings = settingsOf({ config: flags.config }, io);
    const { folder } = settings;
    if (folder === undefined)
      return { settings, checks: [{ name: "config", status: "ok", detail: "none in this folder", chosen: false }] };
    const trusted: Check =
      folder.ignored.length === 0
        ? {
            name: "config trust",
            status: "ok",
            detail: folder.trusted ? "trusted as it is" : "not needed: it only narrows",
            chosen: false,
          }
        : {
            name: "config trust",
            status: "missing",
            detail: `${folder.ignored.join(", ")} ignored until the file is trusted`,
            install: "toolhaft trust",
            chosen: false,
          };
    return { settings, checks: [{ name: "config", status: "ok", detail: folder.path, chosen: true }, trusted] };
  } catch (error) {
    if (!(error instanceof CommandFault)) throw error;
    return {
      settings: undefined,
      checks: [{ name: "config", status: "broken", detail: error.message, chosen: true }],
    };
  }
}

/** Starts each bridged server once and prints the hashes of its tools, ready to be put into the config. */
async function pins(flags: DoctorFlags, io: Io): Promise<number> {
  const settings = settingsOf({ config: flags.config }, io);
  for (const warning of settings.warnings) io.err(`toolhaft: ${warning}\n`);
  const found: Record<string, { pins: Readonly<Record<string, string>> }> = {};
  let failed = false;
  for (const [name, server] of Object.entries(settings.mcpServers)) {
    try {
      await using family = await openServer(name, server, (text) => io.err(`toolhaft: ${text}\n`));
      found[name] = { pins: family.pins };
    } catch (error) {
      failed = true;
      io.err(`toolhaft: mcpServers.${name}: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  }
  io.out(`${JSON.stringify({ mcpServers: found }, null, 2)}\n`);
  return failed ? exitCodes.failed : exitCodes.done;
}
