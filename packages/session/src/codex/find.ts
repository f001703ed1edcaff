import { homedir } from "node:os";
import { join } from "node:path";
import { type Listed, listFolder, staysInside } from "../folders.ts";
import type { FoundFile } from "../transcripts/format.ts";

type Unreadable = { unreadable: string; cause: string };

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
export async function* findCodex(home: string, signal: AbortSignal): AsyncIterable<FoundFile | Unreadable> {
  const best = new Map<string, FoundFile>();
  for (const [folder, archived] of [
    ["sessions", false],
    ["archived_sessions", true],
  ] as const) {
    for await (const found of rollouts(home, join(home, folder), archived, signal)) {
      if ("unreadable" in found) {
        yield found;
        continue;
      }
      const known = best.get(found.session);
      if (known === undefined || rank(found) < rank(known)) best.set(found.session, found);
    }
  }
  // Parents are read before those that replay them: names begin with the time.
  yield* [...best.values()].sort((a, b) => (nameOf(a.path) < nameOf(b.path) ? -1 : 1));
}

function rank(file: FoundFile): number {
  return (file.archived ? 2 : 0) + (file.packed ? 1 : 0);
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

async function* rollouts(
  home: string,
  folder: string,
  archived: boolean,
  signal: AbortSignal,
): AsyncIterable<FoundFile | Unreadable> {
  for (const listed of await listFolder(folder)) {
    signal.throwIfAborted();
    if ("unreadable" in listed) yield listed;
    else if (listed.entry.isDirectory()) yield* rollouts(home, listed.path, archived, signal);
    else {
      const file = await fileOf(home, listed, archived);
      if (file !== undefined) yield file;
    }
  }
}

async function fileOf(
  home: string,
  { entry, path }: Exclude<Listed, Unreadable>,
  archived: boolean,
): Promise<FoundFile | undefined> {
  const match = rollout.exec(entry.name);
  if (match === null) return undefined;
  if (!entry.isFile() && !(entry.isSymbolicLink() && (await staysInside(home, path)))) return undefined;
  const [, stem = "", zst] = match;
  return { path, session: idAtEnd.exec(stem)?.[1] ?? stem, parent: null, archived, packed: zst !== undefined };
}
