import { fileURLToPath } from "node:url";
import { type Child, startChild } from "@toolhaft/testing";

/** Starts a fixture as a real process; it imports the built packages. */
export function startFixture(name: string, args: readonly string[], node?: string): Child {
  return startChild(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)), args, node);
}

/** Another process takes the write lock of a database; the answer gives it back. */
export async function holdLock(path: string): Promise<() => Promise<void>> {
  const child = startFixture("raw-sql.mjs", [path, "hold"]);
  await child.hasLines(1);
  if (child.lines[0] !== "locked") throw new Error(child.stderr());
  return async () => {
    child.process.stdin?.end();
    await child.ended;
  };
}

/** Runs SQL behind the family's back, unprotected, in a process of its own; gives the rows of a query. */
export async function tamper(path: string, sql: string): Promise<unknown> {
  const child = startFixture("raw-sql.mjs", [path, "run", sql]);
  const code = await child.ended;
  if (code !== 0) throw new Error(child.stderr());
  return JSON.parse(child.lines.join("\n") || "null");
}
