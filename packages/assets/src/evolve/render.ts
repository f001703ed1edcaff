import { showHidden } from "@toolhaft/asset-format";
import { findingLines, fitLines, notesOf } from "../present.ts";
import type { EvolveOutput } from "./schemas.ts";

const verbs: Readonly<Record<EvolveOutput["op"], [done: string, would: string]>> = {
  create: ["Created", "create"],
  update: ["Updated", "update"],
  patch: ["Patched", "patch"],
  delete: ["Deleted", "delete"],
  rollback: ["Rolled back", "roll back"],
  write_file: ["Wrote a file of", "write a file of"],
  remove_file: ["Removed a file of", "remove a file of"],
};

/** `Patched pdf-forms: version 4 → 5, strategy indent_flexible, lines 12–15`, then the diff. */
export function renderEvolve(data: EvolveOutput): string {
  const [done, would] = verbs[data.op];
  const lead = data.dryRun ? `Dry run, nothing written. Would ${would}` : done;
  const parts = [`version ${data.previous ?? "none"} → ${data.version}`];
  if (data.restored !== undefined) parts.push(`as version ${data.restored}`);
  if (data.match) parts.push(`strategy ${data.match.strategy}`, placesText(data.match.places));
  const lines = [`${lead} ${data.skill.name}: ${parts.join(", ")}`];
  lines.push(
    ...showHidden(data.diff)
      .trimEnd()
      .split("\n")
      .filter((line) => line !== ""),
  );
  return fitLines([...lines, ...findingLines(data.findings), ...notesOf(data.notes)], 30_000);
}

function placesText(places: readonly { startLine: number; endLine: number }[]): string {
  const shown = places
    .slice(0, 20)
    .map(({ startLine, endLine }) => (startLine === endLine ? `${startLine}` : `${startLine}–${endLine}`));
  const [only] = places;
  const word = places.length === 1 && only?.startLine === only?.endLine ? "line" : "lines";
  return `${word} ${shown.join(", ")}${places.length > 20 ? " …" : ""}`;
}
