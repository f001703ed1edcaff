import { realpathSync, statSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join, parse } from "node:path";
import { fileURLToPath } from "node:url";
import { createId } from "@toolhaft/core";
import type { Workspace } from "./types.ts";

/** What a session may start from, strongest first. */
export interface WorkspaceSources {
  /** `--directory`. */
  directory?: string | undefined;
  /** The client's roots as it sent them; undefined when it has none to give. */
  roots?: readonly string[] | undefined;
  workingDirectory: string;
}

/**
 * The folder of a session, and a note on whatever of the client's wishes was not followed.
 * `/`, a drive and the home folder are nobody's project: nothing is read or made there unasked.
 */
export function resolveWorkspace({ directory, roots, workingDirectory }: WorkspaceSources): {
  workspace: Workspace;
  note?: string;
} {
  if (directory !== undefined) {
    const real = realFolder(directory);
    const note =
      roots === undefined || roots.length === 0
        ? undefined
        : `the client's roots are ignored, a directory was given: ${roots.join(", ")}`;
    const workspace =
      real === undefined
        ? noWorkspace(`there is no folder ${directory}`)
        : usable([real], `${real} is no project folder`);
    return note === undefined ? { workspace } : { workspace, note };
  }
  if (roots === undefined || roots.length === 0) {
    const real = realFolder(workingDirectory);
    return {
      workspace: usable(
        real === undefined ? [] : [real],
        `the server was started in ${workingDirectory}, which is no project folder`,
      ),
    };
  }
  const found = roots.map((uri) => ({ uri, path: pathOfRoot(uri) }));
  const paths = found.flatMap(({ path }) => (path === undefined || isTooWide(path) ? [] : [path]));
  const refused = found.filter(({ path }) => path === undefined || isTooWide(path)).map(({ uri }) => uri);
  const workspace = usable([...new Set(paths)], `no root of the client is a project folder (${roots.join(", ")})`);
  return refused.length === 0
    ? { workspace }
    : { workspace, note: `roots that are no project folder here are ignored: ${refused.join(", ")}` };
}

function usable(paths: readonly string[], otherwise: string): Workspace {
  const [directory] = paths;
  if (directory === undefined || isTooWide(directory)) return noWorkspace(otherwise);
  return { directory, roots: paths };
}

/** A path that does not exist and that no rule covers, in case something looks past the gate. */
function noWorkspace(reason: string): Workspace {
  const directory = join(tmpdir(), `toolhaft-no-workspace-${createId()}`);
  return { directory, roots: [directory], missing: reason };
}

function isTooWide(path: string): boolean {
  return path === parse(path).root || path === realFolder(homedir());
}

function pathOfRoot(uri: string): string | undefined {
  try {
    return uri.startsWith("file:") ? realFolder(fileURLToPath(uri)) : undefined;
  } catch {
    // Not a URL that names a file here: a host name, an encoded slash, a broken escape.
    return undefined;
  }
}

function realFolder(path: string): string | undefined {
  try {
    const real = realpathSync(path);
    return statSync(real).isDirectory() ? real : undefined;
  } catch {
    // Absent or unreadable: the callers say so in their note.
    return undefined;
  }
}
