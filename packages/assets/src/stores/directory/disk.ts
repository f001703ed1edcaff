import { type BigIntStats, type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { isInside } from "../../paths.ts";
import { type ResolvedRoot, realOrSame } from "./roots.ts";

/** Looks at folders and states of files; what it cannot look at becomes a note. */
export class Disk {
  readonly notes: string[] = [];
  readonly #roots: readonly ResolvedRoot[];
  readonly #shown: (path: string) => string;
  readonly #realFolders = new Map<string, string>();

  /** @param shown how notes name a path */
  constructor(roots: readonly ResolvedRoot[], shown: (path: string) => string) {
    this.#roots = roots;
    this.#shown = shown;
  }

  list(folder: string): Dirent[] | undefined {
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.notes.push(`${this.#shown(folder)} cannot be read: ${codeOf(error)}`);
      return undefined;
    }
  }

  hasFolders(folder: string): boolean {
    return (this.list(folder) ?? []).some((entry) => entry.isDirectory());
  }

  /** Whether a folder is there; a link counts when it stays inside the roots, and none does inside a skill (`limit`). */
  isFolder(path: string, limit?: string): boolean {
    const stat = this.lstat(path);
    if (stat?.isDirectory()) return true;
    if (!stat?.isSymbolicLink()) return false;
    const followed = this.follow(path, limit);
    if (typeof followed === "string") {
      this.notes.push(`${this.#shown(path)} is not followed: ${followed}`);
      return false;
    }
    return limit === undefined && followed.stat.isDirectory();
  }

  lstat(path: string): BigIntStats | undefined {
    try {
      return lstatSync(path, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      const code = codeOf(error);
      if (code !== "ENOENT" && code !== "ENOTDIR") this.notes.push(`${this.#shown(path)} cannot be looked at: ${code}`);
      return undefined;
    }
  }

  /** What a path leads to; a text says why that is not known. */
  stat(path: string): BigIntStats | string | undefined {
    try {
      return statSync(path, { bigint: true, throwIfNoEntry: false });
    } catch (error) {
      const code = codeOf(error);
      return code === "ENOENT" || code === "ENOTDIR" ? undefined : code;
    }
  }

  /** Where a link leads, or why it is not followed: links stay inside the roots, or inside `limit`. */
  follow(path: string, limit: string | undefined): { real: string; stat: BigIntStats } | string {
    try {
      const real = realpathSync.native(path);
      const inside =
        (limit !== undefined && isInside(limit, real)) ||
        this.#roots.some((root) => isInside(this.realFolder(root.path), real));
      if (!inside) return `its link leads to ${readlinkSync(path)}, outside the roots`;
      return { real, stat: lstatSync(real, { bigint: true }) };
    } catch (error) {
      return `its link leads nowhere (${codeOf(error)})`;
    }
  }

  realFolder(path: string): string {
    const known = this.#realFolders.get(path);
    if (known !== undefined) return known;
    const real = realOrSame(path);
    this.#realFolders.set(path, real);
    return real;
  }
}

/** The code of a system error. @throws what is none */
export function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  throw error;
}
