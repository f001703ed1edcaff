import type { Database } from "@toolhaft/sqlite";
import { analyse } from "@toolhaft/text";
import { indexedTexts } from "./recorded-search.ts";

const batch = 500;

interface NewPart {
  row: number;
  kind: string;
  text: string | null;
  input: string | null;
  output: string | null;
}

/** Brings the full-text index up to what was recorded: a search pays for it, an append does not. */
export async function indexNewParts(db: Database, signal: AbortSignal): Promise<void> {
  const waiting = () => db.get("SELECT 1 FROM parts WHERE row > (SELECT part FROM indexed) LIMIT 1") !== undefined;
  while (waiting()) await db.write(() => indexBatch(db), { signal });
}

function indexBatch(db: Database): void {
  const parts = db.all<NewPart>(
    "SELECT row, kind, text, input, output FROM parts WHERE row > (SELECT part FROM indexed) ORDER BY row LIMIT ?",
    [batch],
  );
  for (const part of parts) {
    const { text, tool_input, thinking, tool_output } = indexedTexts(part);
    const columns = [text, tool_input, thinking, tool_output].map(words);
    if (columns.every((column) => column === "")) continue;
    db.run("INSERT INTO parts_fts(rowid, text, tool, thinking, output) VALUES (?, ?, ?, ?, ?)", [part.row, ...columns]);
  }
  const last = parts.at(-1);
  if (last !== undefined) db.run("UPDATE indexed SET part = ?", [last.row]);
}

function words(text: string | null): string {
  return text ? analyse(text).join(" ") : "";
}
