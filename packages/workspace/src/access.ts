import { resolve } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileStat, FileSystem } from "./file-system.ts";
import {
  absolutePath,
  componentsBelow,
  foldsCase,
  isInside,
  type RealPath,
  realPath,
  refuseForeignShare,
  shownPath,
} from "./paths.ts";
import type { ResolvedPath, Scope } from "./types.ts";

export type AccessKind = "read" | "write";

/** A resolved path with the facts of what it holds. */
export interface Target extends ResolvedPath {
  readonly stat: FileStat | undefined;
}

export interface AccessOptions {
  readonly files: FileSystem;
  readonly root: string;
  readonly extraRoots: readonly { path: string; access: AccessKind }[];
  readonly protectedPaths: readonly string[];
  /** Never written through a tool. */
  readonly stateDir: string;
}

export interface Access {
  /** Follows links and refuses what no gate can allow; asks nobody. */
  locate(path: string, access: AccessKind, scope: Scope): Promise<Target>;
  /** Puts all targets of a call to the gate in one question. */
  pass(targets: readonly Target[], access: AccessKind, scope: Scope): Promise<void>;
}

/** The folder that holds journals, backups and locks of every family. */
const STATE_FOLDER = ".toolhaft";

/** Confinement to the roots, and the gate every access passes before a lock is taken. */
export function createAccess(options: AccessOptions): Access {
  let roots: Promise<readonly { path: string; access: AccessKind }[]> | undefined;

  const realRoots = () => {
    roots ??= Promise.all(
      [{ path: options.root, access: "write" as const }, ...options.extraRoots].map(async ({ path, access }) => {
        const absolute = resolve(path);
        return [absolute, (await realPath(options.files, absolute)).path].map((place) => ({ path: place, access }));
      }),
    ).then((found) => found.flat());
    // A root that cannot be looked up now may be there at the next call.
    roots.catch(() => {
      roots = undefined;
    });
    return roots;
  };

  async function rootOf(path: string, access: AccessKind): Promise<string | undefined> {
    const holding = (await realRoots()).filter((root) => isInside(root.path, path));
    const fitting = holding.filter((root) => access === "read" || root.access === "write");
    return fitting.sort((a, b) => b.path.length - a.path.length)[0]?.path;
  }

  async function locate(path: string, access: AccessKind, scope: Scope): Promise<Target> {
    const given = absolutePath(path, scope.directory);
    refuseForeignShare(
      given,
      isInside(resolve(options.root), given) || options.extraRoots.some((root) => isInside(resolve(root.path), given)),
    );
    const real: RealPath = await realPath(options.files, given);
    if (/[^/]\/+$/.test(path) && real.stat !== undefined && real.stat.kind !== "directory")
      throw new ToolError("invalid_input", `${path} ends in a slash, but it is no folder`, {
        hint: "leave the slash out",
      });
    const judged = access === "read" && scope.links === "lexical" ? given : real.path;
    const target: Target = {
      path: real.path,
      given,
      shown: shownPath(given, scope.directory),
      kind: kindOf(real.stat),
      inside: (await rootOf(judged, access)) !== undefined,
      stat: real.stat,
    };
    if (access === "write") await refuseState(target);
    return target;
  }

  async function refuseState({ path, shown }: Target): Promise<void> {
    const below = componentsBelow(await rootOf(path, "read"), path);
    if (isInside(options.stateDir, path) || below.some((part) => sameName(part, STATE_FOLDER))) {
      throw new ToolError(
        "denied",
        `${shown} belongs to the state of these tools, which is never written through a tool`,
        {
          hint: "choose another path",
        },
      );
    }
  }

  async function protectedName({ path }: Target): Promise<string | undefined> {
    const below = componentsBelow(await rootOf(path, "read"), path);
    return options.protectedPaths.find((name) =>
      holdsRun(
        below,
        name.split(/[\\/]/).filter((part) => part !== ""),
      ),
    );
  }

  async function pass(targets: readonly Target[], access: AccessKind, scope: Scope): Promise<void> {
    const words: string[] = [];
    for (const target of targets) {
      const name = access === "write" ? await protectedName(target) : undefined;
      const worry = name !== undefined ? `protected: ${name}` : target.inside ? undefined : "outside the workspace";
      if (worry !== undefined && !scope.ask) throw refusal(target, access, worry);
      words.push(worry === undefined ? target.shown : `${target.shown} (${worry})`);
    }
    if (!scope.ask || targets.length === 0) return;
    const resources = targets.map((target) => asked(target, access, scope));
    await scope.ask({ permission: `file.${access}`, resources, reason: `${access} ${words.join(", ")}` });
  }

  return { locate, pass };
}

function asked(target: Target, access: AccessKind, scope: Scope): string {
  const path = access === "read" && scope.links === "lexical" ? target.given : target.path;
  return process.platform === "win32" ? path.replaceAll("\\", "/") : path;
}

function refusal({ path, shown }: Target, access: AccessKind, worry: string): ToolError {
  const place = path === shown ? path : `${shown} (${path})`;
  return new ToolError("denied", `no permission to ${access} ${place}: ${worry}, and there is nobody to ask`, {
    hint: "do not repeat this call unchanged; choose a path inside the workspace, or let the host allow this one",
    details: { by: "no_asker", permission: `file.${access}`, resource: path },
  });
}

function kindOf(stat: FileStat | undefined): ResolvedPath["kind"] {
  if (!stat) return "missing";
  return stat.kind === "file" || stat.kind === "directory" ? stat.kind : "other";
}

function sameName(a: string, b: string): boolean {
  return foldsCase ? a.toLowerCase() === b.toLowerCase() : a === b;
}

function holdsRun(components: readonly string[], run: readonly string[]): boolean {
  if (run.length === 0) return false;
  return components.some((_, at) => run.every((part, k) => sameName(components[at + k] ?? "", part)));
}
