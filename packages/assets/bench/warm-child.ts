// A warm start: a new process over a folder whose index is there. Prints CPU in ms of the catalog's part alone.
import { directoryCatalog } from "../src/index.ts";

const [directory = "", index = ""] = process.argv.slice(2);
// The modules are loaded first: what is measured is the start of the catalog.
await import("@toolhaft/sqlite");
await directoryCatalog([], { directory: "/nonexistent", indexPath: index.replace("assets.db", "other.db") }).list({});
const start = process.cpuUsage();
const begun = performance.now();
const catalog = directoryCatalog(undefined, { directory, indexPath: index });
const { assets } = await catalog.list({});
const { user, system } = process.cpuUsage(start);
process.stdout.write(
  JSON.stringify({ cpu: (user + system) / 1_000, wall: performance.now() - begun, assets: assets.length }),
);
await catalog.close();
