// Told "start": a warm start, a new process over a folder whose index is there. Told "read" or "walk": what a plain program
// does with all files of a folder. Prints CPU in ms of that part alone.
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { directoryCatalog } from "../src/index.ts";
import { readAll } from "./corpus.ts";

const [kind = "", directory = "", index = ""] = process.argv.slice(2);

/** The modules are loaded first: what is measured is the start of the catalog. */
async function start(indexPath: string): Promise<() => Promise<void>> {
  await import("@toolhaft/sqlite");
  const other = indexPath.replace("assets.db", "other.db");
  await directoryCatalog([], { directory: "/nonexistent", indexPath: other }).list({});
  return async () => {
    await directoryCatalog(undefined, { directory, indexPath }).list({});
  };
}

function walk(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) walk(path);
    else lstatSync(path, { bigint: true });
  }
}

const work =
  kind === "start" ? await start(index) : async () => void (kind === "walk" ? walk(directory) : readAll(directory));
const before = process.cpuUsage();
await work();
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu: (user + system) / 1_000 }));
