import { realpath } from "node:fs/promises";
import { isAbsolute, resolve, sep } from "node:path";
import { type ToolContext, ToolError } from "@toolhaft/core";
import type { Desk } from "./desk.ts";
import { isMissing } from "./folders.ts";
import type { Summary } from "./model.ts";
import type { SessionStore } from "./store.ts";

/** The current project: sessions whose directory lies in one of these belong to it. */
export async function ownDirectories(context: ToolContext): Promise<readonly string[]> {
  const named = [context.worktree, ...context.roots];
  const real = await Promise.all(named.map(realOrGiven));
  return [...new Set([...named, ...real])];
}

/** Directories that a list or search looks at; another project is asked for first. */
export async function directoriesFor(
  desk: Desk,
  projectPath: string | undefined,
  context: ToolContext,
): Promise<readonly string[]> {
  if (projectPath === undefined) return ownDirectories(context);
  const path = isAbsolute(projectPath) ? resolve(projectPath) : resolve(context.directory, projectPath);
  const real = await realOrUndefined(path);
  if (real === undefined) {
    throw new ToolError("not_found", `project_path does not exist: ${path}`, {
      hint: "give the folder the session was started in",
    });
  }
  const directories = [...new Set([path, real])];
  const own = await ownDirectories(context);
  if (!directories.some((directory) => own.some((root) => isInside(root, directory)))) {
    for (const store of desk.stores(context)) await askToRead(desk, store.source, path, context);
  }
  return directories;
}

export interface Located {
  store: SessionStore;
  summary: Summary;
}

const longestId = 200;

/**
 * Finds a session by its whole id, `source:id` where two stores hold it. No other session is ever opened in its place;
 * one of another project is asked for before anything of it is read.
 */
export async function locate(desk: Desk, given: string, context: ToolContext): Promise<Located> {
  const stores = desk.stores(context);
  const named = stores.find(({ source }) => given.startsWith(`${source}:`));
  const id = named === undefined ? given : given.slice(named.source.length + 1);
  if (id === "" || id.length > longestId || /[/\\\0]|\.\./.test(id)) {
    throw new ToolError("invalid_input", "session_id is no session id", { hint: "copy a whole id from session_list" });
  }
  const searched = named === undefined ? stores : [named];
  const found: { store: SessionStore; directory: string | null }[] = [];
  const failures: string[] = [];
  for (const store of searched) {
    try {
      const { reader } = store;
      const place = await (reader.directoryOf?.(id, context.signal) ?? reader.get(id, context.signal));
      if (place !== undefined) found.push({ store, directory: place.directory });
    } catch (error) {
      if (context.signal.aborted) throw error;
      failures.push(`${store.source}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const [first] = found;
  const own = await ownDirectories(context);
  if (first === undefined)
    throw await notFound(id, searched, failures, desk.projects === "all" ? "all" : own, context.signal);
  if (found.length > 1) {
    throw new ToolError("invalid_input", `${found.length} stores hold a session of this id`, {
      hint: `write ${found.map(({ store }) => `${store.source}:${id}`).join(" or ")}`,
    });
  }
  const ask = async (directory: string | null) => {
    const belongs = directory !== null && own.some((root) => isInside(root, directory));
    if (!belongs) await askToRead(desk, first.store.source, directory ?? "unknown", context);
  };
  await ask(first.directory);
  const summary = await first.store.reader.get(id, context.signal);
  if (summary === undefined) throw await notFound(id, searched, failures, own, context.signal);
  // What was read of it may tell that it has moved.
  if (summary.directory !== first.directory) await ask(summary.directory);
  return { store: first.store, summary };
}

async function notFound(
  id: string,
  stores: readonly SessionStore[],
  failures: readonly string[],
  directories: readonly string[] | "all",
  signal: AbortSignal,
): Promise<ToolError> {
  if (failures.length === stores.length && failures.length > 0) {
    return new ToolError("unavailable", failures.join("; "), { hint: "mend the store that is named, or leave it out" });
  }
  const near: string[] = [];
  for (const store of stores) {
    if (near.length >= 3) break;
    try {
      near.push(...(await store.reader.near(id, 3, signal, directories)));
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }
  const ids = near.slice(0, 3);
  const missing = failures.length > 0 ? ` (not looked at: ${failures.join("; ")})` : "";
  return new ToolError("not_found", `no session has this id${missing}`, {
    hint: ids.length > 0 ? `near: ${ids.join(", ")}; session_list shows all` : "session_list shows the ids",
    details: { near: ids },
  });
}

/** The gate for sessions of other projects: asked once per call, before any message is read. */
async function askToRead(desk: Desk, source: string, project: string, context: ToolContext): Promise<void> {
  if (desk.projects === "all") return;
  await context.ask({
    permission: "session.read",
    resources: [`${source}:${project}`],
    reason: `read sessions of another project, ${project}`,
    always: [`session.read:${source}:${project}`],
  });
}

export function isInside(root: string, directory: string): boolean {
  return directory === root || directory.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function realOrGiven(path: string): Promise<string> {
  return (await realOrUndefined(path)) ?? path;
}

async function realOrUndefined(path: string): Promise<string | undefined> {
  try {
    return await realpath(path);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
