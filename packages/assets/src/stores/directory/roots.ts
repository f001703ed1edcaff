import { existsSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { join, relative, resolve, sep } from "node:path";
import { isInside } from "../../paths.ts";

/** A folder that is searched for assets. */
export interface Root {
  path: string;
  /** @default the path, relative to the directory */
  label?: string;
  /** `auto`: the folders `skills`, `functions`, `references`, `roles` and `role.yaml` in it, or a folder of skills. @default "auto" */
  layout?: "auto" | "skills" | "functions" | "references" | "roles";
  /** @default "project" */
  scope?: "project" | "user";
  /** @default true for projects, false for users */
  writable?: boolean;
}

/** What is looked for below a root. */
export type Part = "skills" | "functions" | "references" | "roles" | "role-file";

export interface ResolvedRoot {
  /** Absolute. */
  path: string;
  label: string;
  scope: "project" | "user";
  writable: boolean;
  parts: readonly { part: Part; path: string }[];
  /** Whether a `role.yaml` in it owns the folders beside it. */
  wholeRole: boolean;
}

const hostFolders = [".agents", ".claude", ".opencode"];

/** The roots of a directory when none are given: hosts' folders first, then the directory's own. */
export function defaultRoots(directory: string): ResolvedRoot[] {
  const hosts = hostFolders.map((name) => resolveRoot({ path: name, layout: "auto" }, directory, true));
  const own: ResolvedRoot[] = (["skills", "roles"] as const).map((part) => ({
    path: join(directory, part),
    label: part,
    scope: "project",
    writable: true,
    parts: [{ part, path: join(directory, part) }],
    wholeRole: false,
  }));
  const role: ResolvedRoot = {
    path: directory,
    label: ".",
    scope: "project",
    writable: true,
    parts: [{ part: "role-file", path: join(directory, "role.yaml") }],
    wholeRole: true,
  };
  return [...hosts, ...own, role];
}

/** The same folders of the home folder, never written. */
export function userRoots(directory: string, home: string = homedir()): ResolvedRoot[] {
  const places = [".agents", ".claude", join(".config", "opencode")];
  return places.map((name) =>
    resolveRoot({ path: join(home, name), label: `~/${slashes(name)}`, scope: "user" }, directory, true),
  );
}

export function resolveRoot(root: Root, directory: string, always = false): ResolvedRoot {
  const path = resolve(directory, root.path);
  const { layout = "auto", scope = "project" } = root;
  const shown = slashes(relative(directory, path)) || ".";
  return {
    path,
    label: root.label ?? (shown.startsWith("..") ? path : shown),
    scope,
    writable: root.writable ?? scope === "project",
    parts: layout === "auto" ? autoParts(path, always) : [{ part: layout, path }],
    wholeRole: false,
  };
}

function autoParts(path: string, always: boolean): ResolvedRoot["parts"] {
  const parts: { part: Part; path: string }[] = (["skills", "functions", "references", "roles"] as const).map(
    (part) => ({
      part,
      path: join(path, part),
    }),
  );
  parts.push({ part: "role-file", path: join(path, "role.yaml") });
  if (always || !existsSync(path) || parts.some((one) => existsSync(one.path))) return parts;
  return [{ part: "skills", path }];
}

export function slashes(path: string): string {
  return sep === "/" ? path : path.replaceAll(sep, "/");
}

/** The real path, or the path itself where nothing is. */
export function realOrSame(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (error instanceof Error && "code" in error) return path;
    throw error;
  }
}

/** Real folders whose files are read without a question: the directory, and roots elsewhere that the host named. */
export function insideOf(directory: string, roots: readonly ResolvedRoot[]): string[] {
  const own = realOrSame(directory);
  // A root below the directory that is a link out of it was made by whoever wrote the directory, not by the host.
  const named = roots.filter(({ path }) => !isInside(directory, path)).map(({ path }) => realOrSame(path));
  return [own, ...named];
}
