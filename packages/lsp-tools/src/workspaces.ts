import { createWorkspace, type Workspace } from "@toolhaft/workspace";
import { isInside } from "./uris.ts";

/** The workspaces that files are read and written through. */
export interface Workspaces {
  /** How many commits this process has made, whichever family made them. */
  readonly commits: number;
  /** The workspace of a directory: the shared one, or one that is made here. */
  of(directory: string, roots?: readonly string[]): Workspace;
  /** The workspace that a path lies in. */
  holding(path: string): Workspace;
  /** Closes those that were made here. */
  close(): Promise<void>;
}

/** @param shared closed by its owner, and used for everything when it is there */
export function createWorkspaces(shared: Workspace | undefined): Workspaces {
  const own = new Map<string, Workspace>();
  let commits = 0;
  const count = () => {
    commits++;
  };
  const unsubscribe = shared?.onCommit(count);
  const of = (directory: string, roots: readonly string[] = [directory]): Workspace => {
    const known = shared ?? own.get(directory);
    if (known) return known;
    const extraRoots = roots.filter((root) => root !== directory).map((path) => ({ path, access: "write" as const }));
    const workspace = createWorkspace({ root: directory, extraRoots });
    workspace.onCommit(count);
    own.set(directory, workspace);
    return workspace;
  };
  return {
    get commits() {
      return commits;
    },
    of,
    holding(path) {
      if (shared) return shared;
      for (const [directory, workspace] of own) if (isInside(directory, path)) return workspace;
      const [first] = own.values();
      return first ?? of(process.cwd());
    },
    async close() {
      unsubscribe?.();
      await Promise.all([...own.values()].map((workspace) => workspace.close()));
    },
  };
}
