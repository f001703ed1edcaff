import { type AnyTool, estimateTokens, type Profile, profileReport } from "@toolhaft/core";
import { type SettingFlags, settingsOf } from "../config/settings.ts";
import { exitCodes } from "../exit-codes.ts";
import type { FamilyEntry } from "../families.ts";
import type { Io } from "../io.ts";
import { columns } from "../table.ts";
import { loadTools } from "../tools.ts";

export interface ListFlags extends SettingFlags {
  json?: boolean;
  profile?: Profile;
}

/** Tools with their hints and what each costs in a listing; with a profile, what that provider would refuse. */
export async function list(
  families: readonly string[],
  flags: ListFlags,
  io: Io,
  known: readonly FamilyEntry[],
): Promise<number> {
  const settings = settingsOf({ ...flags, families }, io);
  const note = (text: string) => io.err(`toolhaft: ${text}\n`);
  for (const warning of settings.warnings) note(warning);
  const set = await loadTools({ settings, store: undefined, note }, known);
  try {
    if (flags.profile !== undefined) return report(set.tools, flags.profile, flags.json === true, io);
    const rows = set.tools.map((tool) => ({
      name: tool.name,
      title: tool.title,
      annotations: tool.annotations,
      tokens: estimateTokens(tool),
    }));
    if (flags.json) io.out(`${JSON.stringify(rows, null, 2)}\n`);
    else {
      const lines = rows.map(({ name, title, annotations, tokens }) => [
        name,
        title,
        hintsOf(annotations),
        String(tokens),
      ]);
      io.out(columns(["tool", "title", "hints", "tokens"], lines, io));
      io.err(`${rows.length} tools, about ${estimateTokens(set.tools)} tokens in all\n`);
    }
    return exitCodes.done;
  } finally {
    await set.close();
  }
}

function report(tools: readonly AnyTool[], profile: Profile, json: boolean, io: Io): number {
  const problems = profileReport(tools, profile);
  if (json) io.out(`${JSON.stringify(problems, null, 2)}\n`);
  else if (problems.length > 0)
    io.out(
      columns(
        ["tool", "problem"],
        problems.map(({ tool, problem }) => [tool, problem]),
        io,
      ),
    );
  else io.out(`all ${tools.length} tools are fine under ${profile}\n`);
  return exitCodes.done;
}

function hintsOf({ readOnlyHint, destructiveHint, idempotentHint, openWorldHint }: AnyTool["annotations"]): string {
  const words = [
    readOnlyHint ? "reads" : "writes",
    destructiveHint && "destructive",
    idempotentHint && "idempotent",
    openWorldHint && "open world",
  ];
  return words.filter((word) => word !== false).join(", ");
}
