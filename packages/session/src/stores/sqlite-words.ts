import type { Database } from "@toolhaft/sqlite";
import { analyse } from "@toolhaft/text";

/** Characters of a tool's input that are searched. */
const indexedInput = 2_048;
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
  for (const { row, kind, text, input, output } of parts) {
    const columns = [
      words(kind === "text" ? text : null),
      words(input?.slice(0, indexedInput)),
      words(kind === "thinking" ? text : null),
      words(output),
    ];
    if (columns.every((column) => column === "")) continue;
    db.run("INSERT INTO parts_fts(rowid, text, tool, thinking, output) VALUES (?, ?, ?, ?, ?)", [row, ...columns]);
  }
  const last = parts.at(-1);
  if (last !== undefined) db.run("UPDATE indexed SET part = ?", [last.row]);
}

function words(text: string | null | undefined): string {
  return text ? analyse(text).join(" ") : "";
}
