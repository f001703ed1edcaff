import { homedir } from "node:os";
import { join } from "node:path";
import { type Listed, listFolder, staysInside } from "../folders.ts";
import type { Found, FoundFile } from "../transcripts/format.ts";

type Entry = Exclude<Listed, { unreadable: string }>;

const rollout = /^rollout-(.+?)\.jsonl(\.zst)?$/;
const idAtEnd = /([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})$/i;

/** `$CODEX_HOME`, else `~/.codex`. */
export function codexHome(environment: NodeJS.ProcessEnv = process.env): string {
  return environment.CODEX_HOME || join(environment.HOME ?? homedir(), ".codex");
}

/**
 * Rollouts below `sessions/` and `archived_sessions/`. Where one id has several files, the active one comes before the
 * archived, the plain before the packed.
 */
export async function* findCodex(home: string, signal: AbortSignal): AsyncIterable<readonly Found[]> {
  const best = new Map<string, FoundFile>();
  for (const [folder, archived] of [
    ["sessions", false],
    ["archived_sessions", true],
  ] as const) {
    const files: Found[] = [];
    await rollouts(home, join(home, folder), archived, signal, files);
    for (const found of files) {
      if ("unreadable" in found) {
        yield [found];
        continue;
      }
      const known = best.get(found.session);
      if (known === undefined || rank(found) < rank(known)) best.set(found.session, found);
    }
  }
  // Parents are read before those that replay them: names begin with the time.
  yield [...best.values()].sort((a, b) => (nameOf(a.path) < nameOf(b.path) ? -1 : 1));
}

function rank(file: FoundFile): number {
  return (file.archived ? 2 : 0) + (file.packed ? 1 : 0);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

async function rollouts(
  home: string,
  folder: string,
  archived: boolean,
  signal: AbortSignal,
  files: Found[],
): Promise<void> {
  for (const listed of await listFolder(folder)) {
    if ("unreadable" in listed) files.push(listed);
    else if (listed.entry.isDirectory()) {
      signal.throwIfAborted();
      await rollouts(home, listed.path, archived, signal, files);
    } else {
      const file = fileOf(listed, archived);
      // Awaited only where it must be: there are thousands of files, and few links.
      if (file !== undefined && (listed.entry.isFile() || (await isLinkTo(home, listed)))) files.push(file);
    }
  }
}

function fileOf({ entry, path }: Entry, archived: boolean): FoundFile | undefined {
  const match = rollout.exec(entry.name);
  if (match === null) return undefined;
  const [, stem = "", zst] = match;
  return { path, session: idAtEnd.exec(stem)?.[1] ?? stem, parent: null, archived, packed: zst !== undefined };
}

async function isLinkTo(home: string, { entry, path }: Entry): Promise<boolean> {
  return entry.isSymbolicLink() && (await staysInside(home, path));
}
