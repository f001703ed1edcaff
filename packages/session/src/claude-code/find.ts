import { homedir } from "node:os";
import { basename, join } from "node:path";
import { type Listed, listFolder, staysInside } from "../folders.ts";
import type { FoundFile } from "../transcripts/format.ts";

const ending = ".jsonl";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

type Found = FoundFile | { unreadable: string; cause: string };

/** `$CLAUDE_CONFIG_DIR` (a list with commas), else the two folders the program has used. */
export function claudeRoots(environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = environment.CLAUDE_CONFIG_DIR?.split(",")
    .map((root) => root.trim())
    .filter((root) => root !== "");
  if (named !== undefined && named.length > 0) return named;
  const home = environment.HOME ?? homedir();
  return [join(environment.XDG_CONFIG_HOME ?? join(home, ".config"), "claude"), join(home, ".claude")];
}

/** Transcripts of sessions and of their subagents below `projects/`. */
export async function* findClaudeCode(roots: readonly string[], signal: AbortSignal): AsyncIterable<Found> {
  const sessions = new Set<string>();
  for (const root of roots) {
    for (const project of await listFolder(join(root, "projects"))) {
      signal.throwIfAborted();
      if ("unreadable" in project) yield project;
      else if (await isFolder(root, project)) yield* findInProject(root, project.path, sessions, signal);
    }
  }
}

async function* findInProject(
  root: string,
  folder: string,
  sessions: Set<string>,
  signal: AbortSignal,
): AsyncIterable<Found> {
  for (const listed of await listFolder(folder)) {
    signal.throwIfAborted();
    if ("unreadable" in listed) yield listed;
    else if (listed.entry.name.endsWith(ending)) {
      if (await isFile(root, listed)) yield* once(sessions, fileOf(listed.path, null));
    } else if (uuid.test(listed.entry.name) && (await isFolder(root, listed))) {
      yield* findSubagents(root, join(listed.path, "subagents"), listed.entry.name, sessions, signal);
    }
  }
}

async function* findSubagents(
  root: string,
  folder: string,
  parent: string,
  sessions: Set<string>,
  signal: AbortSignal,
): AsyncIterable<Found> {
  for (const listed of await listFolder(folder)) {
    signal.throwIfAborted();
    if ("unreadable" in listed) yield listed;
    else if (listed.entry.isDirectory()) yield* findSubagents(root, listed.path, parent, sessions, signal);
    else if (/^agent-.*\.jsonl$/.test(listed.entry.name) && (await isFile(root, listed))) {
      yield* once(sessions, fileOf(listed.path, parent));
    }
  }
}

/** A session is read from the first file that has its name. */
function* once(sessions: Set<string>, file: FoundFile): Iterable<FoundFile> {
  const key = `${file.parent ?? ""}/${file.session}`;
  if (sessions.has(key)) return;
  sessions.add(key);
  yield file;
}

function fileOf(path: string, parent: string | null): FoundFile {
  return { path, session: basename(path, ending), parent, archived: false, packed: false };
}

type Entry = Exclude<Listed, { unreadable: string }>;

async function isFolder(root: string, { entry, path }: Entry): Promise<boolean> {
  return entry.isDirectory() || (entry.isSymbolicLink() && (await staysInside(root, path)));
}

async function isFile(root: string, { entry, path }: Entry): Promise<boolean> {
  return entry.isFile() || (entry.isSymbolicLink() && (await staysInside(root, path)));
}
