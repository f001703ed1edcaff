import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync } from "node:fs";
import { tempWorkspace } from "@toolhaft/testing";
import { createWorkspace, type Workspace, type WorkspaceOptions } from "../src/index.ts";

/** A workspace with lock folder and surroundings of its own. */
export interface Arena extends AsyncDisposable {
  readonly root: string;
  readonly lockDir: string;
  readonly workspace: Workspace;
  readonly scope: { directory: string; sessionId: string };
  path(relative: string): string;
  read(relative: string): Promise<string>;
  /** Another workspace object over the same files. */
  again(options?: Partial<WorkspaceOptions>): Workspace;
  /** Names in the lock folder. */
  locks(): string[];
}

export async function arena(
  files: Readonly<Record<string, string | Uint8Array>> = {},
  options: Partial<WorkspaceOptions> = {},
): Promise<Arena> {
  const outer = await tempWorkspace(
    Object.fromEntries(Object.entries(files).map(([path, text]) => [`root/${path}`, text])),
  );
  const root = outer.path("root");
  mkdirSync(root, { recursive: true });
  const lockDir = outer.path("locks");
  mkdirSync(lockDir, { mode: 0o700 });
  const made: Workspace[] = [];
  const again = (more: Partial<WorkspaceOptions> = {}) => {
    const workspace = createWorkspace({ root, lockDir, fsync: false, ...options, ...more });
    made.push(workspace);
    return workspace;
  };
  return {
    root,
    lockDir,
    workspace: again(),
    scope: { directory: root, sessionId: "s" },
    path: (relative) => `${root}/${relative}`,
    read: (relative) => outer.read(`root/${relative}`),
    again,
    locks: () => readdirSync(lockDir),
    async [Symbol.asyncDispose]() {
      for (const workspace of made) await workspace.close();
      await outer.remove();
    },
  };
}

/** A named pipe; Node has no call of its own for it. */
export function makeFifo(path: string): void {
  execFileSync("sh", ["-c", 'mkfifo "$1"', "sh", path]);
}
