import { type BigIntStats, type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { deepestRole } from "@toolhaft/asset-format";
import type { AssetType } from "../../model.ts";
import { isInside } from "../../paths.ts";
import { type ResolvedRoot, slashes } from "./roots.ts";
import { stampOf } from "./stamp.ts";

/** A file that defines assets, as the walk finds it; nothing of it has been read. */
export interface Found {
  type: AssetType;
  /** As found. */
  path: string;
  real: string;
  root: number;
  /** The role it lies in. */
  role: string | null;
  /** What names it: folder of a skill, id of a role, path below its folder for the rest. */
  name: string;
  /** Of a skill's reference: the path of the skill's defining file. */
  skill?: string;
  stamp: string;
  bytes: number;
  modifiedAt: number;
  aliases: string[];
  /** Why it cannot be read. */
  fault?: string;
}

export interface Walk {
  found: Found[];
  notes: string[];
  /** Roots that exist, and how many of them could be read. */
  present: number;
  readable: number;
}

const deepestSkill = 4;
const deepestFile = 16;
const skipped = new Set(["node_modules", ".git"]);

/** Finds every file that defines an asset, in the order of the roots. Reads folders and stamps only. */
export async function walkRoots(roots: readonly ResolvedRoot[], pause: () => Promise<void>): Promise<Walk> {
  const walker = new Walker(roots, pause);
  for (const index of roots.keys()) await walker.root(index);
  return walker.result();
}

class Walker {
  readonly #roots: readonly ResolvedRoot[];
  readonly #pause: () => Promise<void>;
  readonly #found: Found[] = [];
  readonly #byReal = new Map<string, Found>();
  readonly #notes: string[] = [];
  #present = 0;
  #readable = 0;
  #root = 0;

  constructor(roots: readonly ResolvedRoot[], pause: () => Promise<void>) {
    this.#roots = roots;
    this.#pause = pause;
  }

  result(): Walk {
    return { found: this.#found, notes: this.#notes, present: this.#present, readable: this.#readable };
  }

  async root(index: number): Promise<void> {
    const root = this.#roots[index];
    if (!root) return;
    this.#root = index;
    const stat = this.#stat(root.path);
    if (typeof stat === "string") {
      this.#present++;
      this.#notes.push(`root ${root.label} cannot be read: ${stat}`);
      return;
    }
    if (!stat) return;
    if (!stat.isDirectory()) {
      this.#notes.push(`root ${root.label} is not a folder`);
      return;
    }
    if (!root.wholeRole) this.#present++;
    if (!root.wholeRole && this.#list(root.path) === undefined) return;
    if (!root.wholeRole) this.#readable++;
    for (const { part, path } of root.parts) {
      if (part === "role-file") await this.#roleFile(path, roleIdOf(root.path), 0, root.wholeRole);
      else await this.#part(part, path);
    }
  }

  async #part(part: "skills" | "functions" | "references" | "roles", path: string): Promise<void> {
    if (!this.#isFolder(path)) return;
    if (part === "skills") await this.#skills(path, null, 1);
    else if (part === "roles") await this.#roles(path, undefined, 0);
    else await this.#files(part === "functions" ? "function" : "reference", path, path, null, 1);
  }

  async #skills(folder: string, role: string | null, depth: number): Promise<void> {
    await this.#pause();
    for (const entry of this.#list(folder) ?? []) {
      if (skipped.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) await this.#linkedSkill(path, role);
      else if (entry.isDirectory() && !(await this.#skill(path, path, role))) {
        if (depth < deepestSkill) await this.#skills(path, role, depth + 1);
        else if (this.#hasFolders(path))
          this.#notes.push(`${this.#shown(path)} is ${deepestSkill} levels deep; nothing below it is searched`);
      }
    }
  }

  async #linkedSkill(path: string, role: string | null): Promise<void> {
    const stat = this.#stat(path);
    if (typeof stat === "string" || !stat) {
      this.#notes.push(`the link ${this.#shown(path)} leads nowhere (${stat ?? "ENOENT"})`);
      return;
    }
    if (!stat.isDirectory()) return;
    const real = realpathSync.native(path);
    if (!(await this.#skill(path, real, role)))
      this.#notes.push(`the link ${this.#shown(path)} leads to no skill folder and is not followed`);
  }

  /** Whether the folder is that of a skill. */
  async #skill(path: string, folder: string, role: string | null): Promise<boolean> {
    const names = this.#list(folder);
    if (!names) return true;
    const file = names.find(({ name }) => name === "SKILL.md") ?? names.find(({ name }) => name === "skill.md");
    if (!file) return false;
    const realFolder = path === folder ? this.#realFolder(folder) : folder;
    const defining = join(path, file.name);
    const found = this.#add("skill", defining, join(realFolder, file.name), role, basename(path), realFolder);
    if (!found) return true;
    if (names.some(({ name }) => name === "references")) {
      const references = join(path, "references");
      if (this.#isFolder(references, realFolder))
        await this.#files("reference", references, references, role, 1, found, realFolder);
    }
    return true;
  }

  async #roles(folder: string, parent: string | undefined, level: number): Promise<void> {
    await this.#pause();
    for (const entry of this.#list(folder) ?? []) {
      if (skipped.has(entry.name) || !entry.isDirectory()) continue;
      const path = join(folder, entry.name);
      const id = parent === undefined ? entry.name : `${parent}/${entry.name}`;
      await this.#roleFile(join(path, "role.yaml"), id, level, true);
    }
  }

  async #roleFile(path: string, id: string, level: number, owns: boolean): Promise<void> {
    const stat = this.#lstat(path);
    if (!stat) return;
    if (this.#add("role", path, path, parentOf(id), id, this.#realFolder(dirname(path))) && owns)
      await this.#roleFolder(dirname(path), id, level);
  }

  async #roleFolder(folder: string, id: string, level: number): Promise<void> {
    const whole = this.#roots[this.#root]?.wholeRole === true;
    const [skills, functions, references, subagents] = ["skills", "functions", "references", "subagents"].map((name) =>
      join(folder, name),
    );
    if (skills !== undefined && !whole && this.#isFolder(skills)) await this.#skills(skills, id, 1);
    if (functions !== undefined && this.#isFolder(functions))
      await this.#files("function", functions, functions, id, 1);
    if (references !== undefined && this.#isFolder(references))
      await this.#files("reference", references, references, id, 1);
    if (subagents === undefined || !this.#isFolder(subagents)) return;
    if (level < deepestRole) await this.#roles(subagents, id, level + 1);
    else
      this.#notes.push(`${this.#shown(subagents)} is more than ${deepestRole} levels of roles deep and not searched`);
  }

  async #files(
    type: "function" | "reference",
    base: string,
    folder: string,
    role: string | null,
    depth: number,
    skill?: Found,
    limit?: string,
  ): Promise<void> {
    await this.#pause();
    for (const entry of this.#list(folder) ?? []) {
      if (skipped.has(entry.name)) continue;
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < deepestFile) await this.#files(type, base, path, role, depth + 1, skill, limit);
        else this.#notes.push(`${this.#shown(path)} is ${deepestFile} levels deep and not searched`);
        continue;
      }
      if (type === "function" && !/\.md$/i.test(entry.name)) continue;
      const below = slashes(relative(base, path)).replace(/\.md$/i, "");
      const name = type === "function" ? basename(below) : skill ? `${skill.name}/${below}` : below;
      this.#add(type, path, path, role, name, limit, skill);
    }
  }

  /** Adds a file, or its path to one that is known; links are followed inside the roots only. */
  #add(
    type: AssetType,
    path: string,
    real: string,
    role: string | null,
    name: string,
    limit?: string,
    skill?: Found,
  ): Found | undefined {
    let stat = this.#lstat(real);
    if (!stat) return undefined;
    let fault: string | undefined;
    let target = real;
    if (stat.isSymbolicLink()) {
      const followed = this.#follow(real, limit);
      if (typeof followed === "string") fault = followed;
      else {
        target = followed.real;
        stat = followed.stat;
      }
    }
    if (fault === undefined && !stat.isFile()) fault = `it is ${kindOf(stat)}, not a regular file`;
    const key = `${type}\0${target}`;
    const known = fault === undefined ? this.#byReal.get(key) : undefined;
    if (known) {
      if (known.path !== path) known.aliases.push(path);
      return undefined;
    }
    const found: Found = {
      type,
      path,
      real: target,
      root: this.#root,
      role,
      name,
      ...(skill && { skill: skill.path }),
      stamp: fault === undefined ? stampOf(stat) : `fault:${fault}:${stampOf(stat)}`,
      bytes: Number(stat.size),
      modifiedAt: Math.floor(Number(stat.mtimeNs) / 1e6),
      aliases: [],
      ...(fault !== undefined && { fault }),
    };
    this.#byReal.set(key, found);
    this.#found.push(found);
    return found;
  }

  #follow(path: string, limit: string | undefined): { real: string; stat: BigIntStats } | string {
    try {
      const real = realpathSync.native(path);
      const inside =
        (limit !== undefined && isInside(limit, real)) ||
        this.#roots.some((root) => isInside(this.#realFolder(root.path), real));
      if (!inside) return `its link leads to ${readlinkSync(path)}, outside the roots`;
      return { real, stat: lstatSync(real, { bigint: true }) };
    } catch (error) {
      return `its link leads nowhere (${codeOf(error)})`;
    }
  }

  readonly #realFolders = new Map<string, string>();

  #realFolder(path: string): string {
    let real = this.#realFolders.get(path);
    if (real === undefined) {
      try {
        real = realpathSync.native(path);
      } catch (error) {
        codeOf(error);
        real = path;
      }
      this.#realFolders.set(path, real);
    }
    return real;
  }

  #list(folder: string): Dirent[] | undefined {
    try {
      return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1));
    } catch (error) {
      this.#notes.push(`${this.#shown(folder)} cannot be read: ${codeOf(error)}`);
      return undefined;
    }
  }

  #hasFolders(folder: string): boolean {
    return (this.#list(folder) ?? []).some((entry) => entry.isDirectory());
  }

  #isFolder(path: string, limit?: string): boolean {
    const stat = this.#lstat(path);
    if (stat?.isDirectory()) return true;
    if (!stat?.isSymbolicLink()) return false;
    const followed = this.#follow(path, limit);
    if (typeof followed === "string") {
      this.#notes.push(`${this.#shown(path)} is not followed: ${followed}`);
      return false;
    }
    return limit === undefined && followed.stat.isDirectory();
  }

  #lstat(path: string): BigIntStats | undefined {
    try {
      return lstatSync(path, { bigint: true });
    } catch (error) {
      const code = codeOf(error);
      if (code !== "ENOENT" && code !== "ENOTDIR")
        this.#notes.push(`${this.#shown(path)} cannot be looked at: ${code}`);
      return undefined;
    }
  }

  /** What a path leads to; a text says why that is not known. */
  #stat(path: string): BigIntStats | string | undefined {
    try {
      return statSync(path, { bigint: true });
    } catch (error) {
      const code = codeOf(error);
      return code === "ENOENT" || code === "ENOTDIR" ? undefined : code;
    }
  }

  #shown(path: string): string {
    const root = this.#roots[this.#root];
    if (!root) return path;
    return slashes(join(root.label, relative(root.path, path)));
  }
}

function kindOf(stat: BigIntStats): string {
  if (stat.isDirectory()) return "a folder";
  if (stat.isFIFO()) return "a pipe";
  if (stat.isSocket()) return "a socket";
  return "a device";
}

function parentOf(id: string): string | null {
  return id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null;
}

function roleIdOf(folder: string): string {
  return basename(folder).replace(/^\.+/, "") || "role";
}

/** The code of a system error. @throws what is none */
export function codeOf(error: unknown): string {
  if (error instanceof Error && "code" in error && typeof error.code === "string") return error.code;
  throw error;
}
