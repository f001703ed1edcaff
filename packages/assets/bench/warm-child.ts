// A warm start: a new process over a folder whose index is there. With one argument: reading all files of a folder.
// Prints CPU in ms of that part alone.
import { directoryCatalog } from "../src/index.ts";
import { readAll } from "./corpus.ts";

const [directory = "", index] = process.argv.slice(2);

/** The modules are loaded first: what is measured is the start of the catalog. */
async function start(indexPath: string): Promise<() => Promise<void>> {
  await import("@toolhaft/sqlite");
  const other = indexPath.replace("assets.db", "other.db");
  await directoryCatalog([], { directory: "/nonexistent", indexPath: other }).list({});
  return async () => {
    await directoryCatalog(undefined, { directory, indexPath }).list({});
  };
}

const work = index === undefined ? async () => void readAll(directory) : await start(index);
const before = process.cpuUsage();
await work();
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ cpu: (user + system) / 1_000 }));
