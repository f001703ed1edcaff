import { homedir } from "node:os";
import { join, sep } from "node:path";
import { type Listed, listFolder, staysInside } from "../folders.ts";
import type { Found, FoundFile } from "../transcripts/format.ts";

const ending = ".jsonl";
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** `$CLAUDE_CONFIG_DIR` (a list with commas), else the two folders the program has used. */
export function claudeRoots(environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = environment.CLAUDE_CONFIG_DIR?.split(",")
    .map((root) => root.trim())
    .filter((root) => root !== "");
  if (named !== undefined && named.length > 0) return named;
  const home = environment.HOME ?? homedir();
  return [join(environment.XDG_CONFIG_HOME ?? join(home, ".config"), "claude"), join(home, ".claude")];
}

/** Transcripts of sessions and of their subagents below `projects/`, a batch for each folder. */
export async function* findClaudeCode(roots: readonly string[], signal: AbortSignal): AsyncIterable<readonly Found[]> {
  const sessions = new Set<string>();
  for (const root of roots) {
    for (const project of await listFolder(join(root, "projects"))) {
      signal.throwIfAborted();
      if ("unreadable" in project) yield [project];
      else if (await isFolder(root, project)) yield* findInProject(root, project.path, sessions, signal);
    }
  }
}

async function* findInProject(
  root: string,
  folder: string,
  sessions: Set<string>,
  signal: AbortSignal,
): AsyncIterable<readonly Found[]> {
  const found: Found[] = [];
  const folders: Entry[] = [];
  for (const listed of await listFolder(folder)) {
    if ("unreadable" in listed) found.push(listed);
    else if (listed.entry.name.endsWith(ending)) {
      // Awaited only where it must be: there are thousands of files, and few links.
      if (listed.entry.isFile() || (await isLinkTo(root, listed))) addOnce(sessions, fileOf(listed.path, null), found);
    } else if (uuid.test(listed.entry.name)) folders.push(listed);
  }
  signal.throwIfAborted();
  yield found;
  for (const listed of folders) {
    if (!(await isFolder(root, listed))) continue;
    yield* findSubagents(root, join(listed.path, "subagents"), listed.entry.name, sessions, signal);
  }
}

async function* findSubagents(
  root: string,
  folder: string,
  parent: string,
  sessions: Set<string>,
  signal: AbortSignal,
): AsyncIterable<readonly Found[]> {
  const found: Found[] = [];
  const folders: string[] = [];
  for (const listed of await listFolder(folder)) {
    signal.throwIfAborted();
    if ("unreadable" in listed) found.push(listed);
    else if (listed.entry.isDirectory()) folders.push(listed.path);
    else if (/^agent-.*\.jsonl$/.test(listed.entry.name) && (listed.entry.isFile() || (await isLinkTo(root, listed)))) {
      addOnce(sessions, fileOf(listed.path, parent), found);
    }
  }
  yield found;
  for (const path of folders) yield* findSubagents(root, path, parent, sessions, signal);
}

/** A session is read from the first file that has its name. */
function addOnce(sessions: Set<string>, file: FoundFile, found: Found[]): void {
  const key = file.parent === null ? file.session : `${file.parent}/${file.session}`;
  if (sessions.has(key)) return;
  sessions.add(key);
  found.push(file);
}

function fileOf(path: string, parent: string | null): FoundFile {
  // Cheaper than `basename`, which thousands of files notice.
  const session = path.slice(path.lastIndexOf(sep) + 1, -ending.length);
  return { path, session, parent, archived: false, packed: false };
}

type Entry = Exclude<Listed, { unreadable: string }>;

async function isFolder(root: string, listed: Entry): Promise<boolean> {
  return listed.entry.isDirectory() || (await isLinkTo(root, listed));
}

/** A link is followed only to what lies below the root. */
async function isLinkTo(root: string, { entry, path }: Entry): Promise<boolean> {
  return entry.isSymbolicLink() && (await staysInside(root, path));
}
