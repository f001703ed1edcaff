import { dirname } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileSystem } from "./file-system.ts";
import type { Step } from "./journal.ts";
import { absentAs } from "./small-file.ts";

/** Remembers which folders the names of a commit stand in, to notice one that was swapped before it is written to. */
export class ParentWatch {
  readonly #files: FileSystem;
  readonly #known: ReadonlyMap<string, string>;

  private constructor(files: FileSystem, known: ReadonlyMap<string, string>) {
    this.#files = files;
    this.#known = known;
  }

  /** Folders that do not exist yet are watched by the nearest one that does. */
  static async of(files: FileSystem, steps: readonly Step[]): Promise<ParentWatch> {
    const known = new Map<string, string>();
    for (const step of steps) {
      for (const path of "from" in step ? [step.from, step.path] : [step.path]) {
        for (let folder = dirname(path); !known.has(folder); folder = dirname(folder)) {
          const identity = await identityOf(files, folder);
          if (identity === undefined && dirname(folder) !== folder) continue;
          known.set(folder, identity ?? "");
          break;
        }
      }
    }
    return new ParentWatch(files, known);
  }

  /** @throws ToolError `conflict` */
  async check(): Promise<void> {
    for (const [folder, before] of this.#known) {
      const real = await absentAs(undefined, () => this.#files.realpath(folder));
      if (real === folder && (await identityOf(this.#files, folder)) === before) continue;
      throw new ToolError("conflict", `the folder ${folder} was replaced during the call; nothing was written`, {
        hint: "look at it, then repeat the call",
      });
    }
  }
}

async function identityOf(files: FileSystem, folder: string): Promise<string | undefined> {
  const stat = await absentAs(undefined, () => files.lstat(folder));
  return stat && `${stat.dev}:${stat.ino}`;
}
