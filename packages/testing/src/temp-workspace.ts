import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** A folder of its own under the system's temporary folder; removed by `remove()` or `await using`. */
export interface TempWorkspace extends AsyncDisposable {
  /** Real path. */
  readonly directory: string;
  /** An absolute path inside. */
  path(relative: string): string;
  /** Writes files, making their folders. */
  write(files: Files): Promise<void>;
  read(relative: string): Promise<string>;
  /** What every file is right now; the tools' own state in `.toolhaft` is left out. */
  snapshot(): Snapshot;
  remove(): Promise<void>;
}

/** Relative path to mode and SHA-256 of the bytes, folders and links included. */
export type Snapshot = ReadonlyMap<string, string>;

/** A fresh folder, with files in it. */
export async function tempWorkspace(files: Files = {}): Promise<TempWorkspace> {
  const directory = await realpath(await mkdtemp(join(tmpdir(), "toolhaft-")));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 });
  const workspace: TempWorkspace = {
    directory,
    path: (relative) => join(directory, relative),
    async write(more) {
      for (const [path, content] of Object.entries(more)) {
        await mkdir(dirname(join(directory, path)), { recursive: true });
        await writeFile(join(directory, path), content);
      }
    },
    read: (relative) => readFile(join(directory, relative), "utf8"),
    snapshot: () => snapshotOf(directory),
    remove,
    [Symbol.asyncDispose]: remove,
  };
  await workspace.write(files);
  return workspace;
}

/** Synchronous, so that it can be taken in the middle of a call. */
export function snapshotOf(directory: string): Snapshot {
  const found = new Map<string, string>();
  const visit = (folder: string, prefix: string): void => {
    for (const name of readdirSync(folder).sort()) {
      if (prefix === "" && name === ".toolhaft") continue;
      const path = join(folder, name);
      const relative = prefix + name;
      const stat = lstatSync(path);
      const mode = (stat.mode & 0o7777).toString(8);
      if (stat.isDirectory()) {
        found.set(`${relative}/`, mode);
        visit(path, `${relative}/`);
      } else if (stat.isSymbolicLink()) found.set(relative, `link ${readlinkSync(path)}`);
      else if (stat.isFile())
        found.set(relative, `${mode} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`);
      else found.set(relative, `${mode} special`);
    }
  };
  visit(directory, "");
  return found;
}

/** Paths that differ between two snapshots, folders without their slash. */
export function changedPaths(before: Snapshot, after: Snapshot): string[] {
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((path) => before.get(path) !== after.get(path)).map((path) => path.replace(/\/$/, ""));
}
