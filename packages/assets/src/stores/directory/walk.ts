import { basename, dirname, join, relative, sep } from "node:path";
import { deepestRole } from "@toolhaft/asset-format";
import type { AssetType } from "../../model.ts";
import { Disk } from "./disk.ts";
import { type Found, foundFrom, kindOf } from "./found.ts";
import { type ResolvedRoot, slashes } from "./roots.ts";

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
export async function walkRoots(roots: readonly ResolvedRoot[], pause: () => Promise<void> | undefined): Promise<Walk> {
  const walker = new Walker(roots, pause);
  for (const index of roots.keys()) await walker.root(index);
  return walker.result();
}

/** A path as found, and where it really lies. */
interface Place {
  path: string;
  real: string;
}

/** What the files of a folder are. */
interface Kind {
  type: AssetType;
  role: string | null;
  /** Real folder that links of it may not leave. */
  limit?: string;
  skill?: Found;
}

class Walker {
  readonly #roots: readonly ResolvedRoot[];
  readonly #pause: () => Promise<void> | undefined;
  readonly #found: Found[] = [];
  readonly #byReal = new Map<string, Found>();
  readonly #disk: Disk;
  #present = 0;
  #readable = 0;
  #root = 0;

  constructor(roots: readonly ResolvedRoot[], pause: () => Promise<void> | undefined) {
    this.#roots = roots;
    this.#pause = pause;
    this.#disk = new Disk(roots, (path) => this.#shown(path));
  }

  result(): Walk {
    return { found: this.#found, notes: this.#disk.notes, present: this.#present, readable: this.#readable };
  }

  async root(index: number): Promise<void> {
    const root = this.#roots[index];
    if (!root) return;
    this.#root = index;
    const stat = this.#disk.stat(root.path);
    if (typeof stat === "string") {
      this.#present++;
      this.#disk.notes.push(`root ${root.label} cannot be read: ${stat}`);
      return;
    }
    if (!stat) return;
    if (!stat.isDirectory()) {
      this.#disk.notes.push(`root ${root.label} is not a folder`);
      return;
    }
    if (!root.wholeRole) this.#present++;
    if (!root.wholeRole && this.#disk.list(root.path) === undefined) return;
    if (!root.wholeRole) this.#readable++;
    for (const { part, path } of root.parts) {
      if (part === "role-file") {
        const folder = this.#placeOf(dirname(path));
        await this.#roleFile(inside(folder, basename(path)), folder, roleIdOf(root.path), 0, root.wholeRole);
      } else await this.#part(part, path);
    }
  }

  #placeOf(path: string): Place {
    return { path, real: this.#disk.realFolder(path) };
  }

  async #part(part: "skills" | "functions" | "references" | "roles", path: string): Promise<void> {
    if (!this.#disk.isFolder(path)) return;
    const folder = this.#placeOf(path);
    if (part === "skills") await this.#skills(folder, null, 1);
    else if (part === "roles") await this.#roles(folder, undefined, 0);
    else await this.#files({ type: part === "functions" ? "function" : "reference", role: null }, folder, "", 1);
  }

  async #skills(folder: Place, role: string | null, depth: number): Promise<void> {
    await this.#pause();
    for (const entry of this.#disk.list(folder.path) ?? []) {
      if (skipped.has(entry.name)) continue;
      const place = inside(folder, entry.name);
      if (entry.isSymbolicLink()) await this.#linkedSkill(place.path, role);
      else if (entry.isDirectory() && !(await this.#skill(place, entry.name, role))) {
        if (depth < deepestSkill) await this.#skills(place, role, depth + 1);
        else if (this.#disk.hasFolders(place.path))
          this.#disk.notes.push(
            `${this.#shown(place.path)} is ${deepestSkill} levels deep; nothing below it is searched`,
          );
      }
    }
  }

  async #linkedSkill(path: string, role: string | null): Promise<void> {
    const stat = this.#disk.stat(path);
    if (typeof stat === "string" || !stat) {
      this.#disk.notes.push(`the link ${this.#shown(path)} leads nowhere (${stat ?? "ENOENT"})`);
      return;
    }
    if (!stat.isDirectory()) return;
    if (!(await this.#skill(this.#placeOf(path), basename(path), role)))
      this.#disk.notes.push(`the link ${this.#shown(path)} leads to no skill folder and is not followed`);
  }

  /** Whether the folder is that of a skill. */
  async #skill(folder: Place, name: string, role: string | null): Promise<boolean> {
    const names = this.#disk.list(folder.path);
    if (!names) return true;
    const file = names.find((entry) => entry.name === "SKILL.md") ?? names.find((entry) => entry.name === "skill.md");
    if (!file) return false;
    const limit = folder.real;
    const found = this.#add({ type: "skill", role, limit }, inside(folder, file.name), name);
    if (!found) return true;
    const entry = names.find((one) => one.name === "references");
    if (!entry) return true;
    const references = inside(folder, entry.name);
    if (entry.isDirectory() || this.#disk.isFolder(references.path, limit))
      await this.#files({ type: "reference", role, limit, skill: found }, references, "", 1);
    return true;
  }

  async #roles(folder: Place, parent: string | undefined, level: number): Promise<void> {
    await this.#pause();
    for (const entry of this.#disk.list(folder.path) ?? []) {
      if (skipped.has(entry.name) || !entry.isDirectory()) continue;
      const own = inside(folder, entry.name);
      const id = parent === undefined ? entry.name : `${parent}/${entry.name}`;
      await this.#roleFile(inside(own, "role.yaml"), own, id, level, true);
    }
  }

  async #roleFile(file: Place, folder: Place, id: string, level: number, owns: boolean): Promise<void> {
    if (this.#add({ type: "role", role: parentOf(id), limit: folder.real }, file, id) && owns)
      await this.#roleFolder(folder, id, level);
  }

  async #roleFolder(folder: Place, id: string, level: number): Promise<void> {
    const whole = this.#roots[this.#root]?.wholeRole === true;
    const skills = inside(folder, "skills");
    if (!whole && this.#disk.isFolder(skills.path)) await this.#skills(this.#placeOf(skills.path), id, 1);
    for (const [name, type] of [
      ["functions", "function"],
      ["references", "reference"],
    ] as const) {
      const files = inside(folder, name);
      if (this.#disk.isFolder(files.path)) await this.#files({ type, role: id }, this.#placeOf(files.path), "", 1);
    }
    const subagents = inside(folder, "subagents");
    if (!this.#disk.isFolder(subagents.path)) return;
    if (level < deepestRole) await this.#roles(this.#placeOf(subagents.path), id, level + 1);
    else
      this.#disk.notes.push(
        `${this.#shown(subagents.path)} is more than ${deepestRole} levels of roles deep and not searched`,
      );
  }

  /** @param below path of the folder below where the names begin, with "/" at its end */
  async #files(kind: Kind, folder: Place, below: string, depth: number): Promise<void> {
    await this.#pause();
    for (const entry of this.#disk.list(folder.path) ?? []) {
      if (skipped.has(entry.name)) continue;
      const place = inside(folder, entry.name);
      if (entry.isDirectory()) {
        if (depth < deepestFile) await this.#files(kind, place, `${below}${entry.name}/`, depth + 1);
        else this.#disk.notes.push(`${this.#shown(place.path)} is ${deepestFile} levels deep and not searched`);
        continue;
      }
      if (kind.type === "function" && !/\.md$/i.test(entry.name)) continue;
      const own = entry.name.replace(/\.md$/i, "");
      const prefix = kind.skill ? `${kind.skill.name}/` : "";
      this.#add(kind, place, kind.type === "function" ? own : `${prefix}${below}${own}`);
    }
  }

  /** Adds a file, or its path to one that is known; links are followed inside the roots only. */
  #add({ type, role, limit, skill }: Kind, { path, real }: Place, name: string): Found | undefined {
    let stat = this.#disk.lstat(path);
    if (!stat) return undefined;
    let fault: string | undefined;
    let target = real;
    if (stat.isSymbolicLink()) {
      const followed = this.#disk.follow(path, limit);
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
    const place = { type, path, real: target, root: this.#root, role, name, ...(skill && { skill: skill.path }) };
    const found = foundFrom(place, stat, fault);
    this.#byReal.set(key, found);
    this.#found.push(found);
    return found;
  }

  #shown(path: string): string {
    const root = this.#roots[this.#root];
    if (!root) return path;
    return slashes(join(root.label, relative(root.path, path)));
  }
}

function inside({ path, real }: Place, name: string): Place {
  const below = path + sep + name;
  return { path: below, real: path === real ? below : real + sep + name };
}

function parentOf(id: string): string | null {
  return id.includes("/") ? id.slice(0, id.lastIndexOf("/")) : null;
}

function roleIdOf(folder: string): string {
  return basename(folder).replace(/^\.+/, "") || "role";
}
