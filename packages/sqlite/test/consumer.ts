import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { temporaryFolder } from "./temporary.ts";

const run = promisify(execFile);
const here = fileURLToPath(new URL("..", import.meta.url));

/** Why a native module does not load, what does that to an installed one, and the line that mends it. */
export const faults = [
  {
    cause: "not installed",
    damage: (packages: string) => rmSync(join(packages, "better-sqlite3"), { recursive: true }),
    remedies: ["npm install better-sqlite3@12.11.1"],
  },
  {
    cause: "install script was not run",
    damage: (packages: string) => rmSync(join(packages, "better-sqlite3", "build"), { recursive: true }),
    remedies: [
      "npm install-scripts approve better-sqlite3 && npm rebuild better-sqlite3",
      "pnpm approve-builds",
      "npx --allow-scripts=better-sqlite3 …",
    ],
  },
  {
    cause: "built for another Node",
    damage: (packages: string) =>
      writeFileSync(
        join(packages, "better-sqlite3", "build", "Release", "better_sqlite3.node"),
        "a file for another machine",
      ),
    remedies: ["npm rebuild better-sqlite3"],
  },
] as const;

/** What opening a database gives in a project whose native module is spoilt: the driver, or the error. */
export async function openSpoilt(damage: (packages: string) => void, node = process.execPath) {
  const packages = consumer();
  damage(packages);
  const file = join(packages, "x.db");
  const program = `
    import { openDatabase } from "@toolhaft/sqlite";
    try {
      const db = await openDatabase({ path: ${JSON.stringify(file)}, family: "x", migrations: [] });
      console.log(JSON.stringify({ driver: db.driver }));
      db.close();
    } catch (error) {
      console.log(JSON.stringify({ code: error.code, message: error.message, hint: error.hint }));
    }`;
  writeFileSync(join(packages, "..", "program.mjs"), program);
  const { stdout } = await run(node, [join(packages, "..", "program.mjs")]);
  return { answer: JSON.parse(stdout) as unknown, file };
}

/** A project with the built package and its own copy of the native module. */
function consumer(): string {
  const packages = join(temporaryFolder(), "node_modules");
  const require = createRequire(join(here, "package.json"));
  mkdirSync(join(packages, "@toolhaft", "sqlite"), { recursive: true });
  cpSync(join(here, "dist"), join(packages, "@toolhaft", "sqlite", "dist"), { recursive: true });
  cpSync(join(here, "package.json"), join(packages, "@toolhaft", "sqlite", "package.json"));
  symlinkSync(resolve(here, "..", "core"), join(packages, "@toolhaft", "core"));
  const native = dirname(require.resolve("better-sqlite3/package.json"));
  for (const part of ["package.json", "lib", join("build", "Release", "better_sqlite3.node")]) {
    cpSync(join(native, part), join(packages, "better-sqlite3", part), { recursive: true });
  }
  const bindings = dirname(createRequire(join(native, "package.json")).resolve("bindings/package.json"));
  cpSync(bindings, join(packages, "bindings"), { recursive: true });
  cpSync(join(bindings, "..", "file-uri-to-path"), join(packages, "file-uri-to-path"), {
    recursive: true,
    dereference: true,
  });
  return packages;
}
