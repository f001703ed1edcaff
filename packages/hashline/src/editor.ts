import { relative, resolve, sep } from "node:path";
import type { ToolContext } from "@toolhaft/core";
import { createWorkspace, type TextFile, type TextModel, type Workspace } from "@toolhaft/workspace";
import type { TextCodes } from "./anchor.ts";
import { codesOf } from "./edit-plan.ts";
import { createLineHasher, type LineHasher } from "./line-hash.ts";
import type { HashlineOptions, Settings } from "./options.ts";
import type { Ranges } from "./ranges.ts";
import { ShownLines } from "./shown-lines.ts";
import { Snapshots } from "./snapshots.ts";

/** What the tools of one family share: workspaces, the hasher, what they know of files and what they have shown. */
export class Editor {
  readonly settings: Settings;
  readonly snapshots: Snapshots;
  readonly shown: ShownLines;
  readonly #given: Workspace | undefined;
  readonly #own = new Map<string, Workspace>();
  readonly #listening = new Map<Workspace, () => void>();
  #hasher: Promise<LineHasher> | undefined;

  constructor(options: HashlineOptions, settings: Settings) {
    this.settings = settings;
    this.#given = options.workspace;
    this.snapshots = new Snapshots(settings.snapshots);
    this.shown = new ShownLines(settings.snapshots);
  }

  workspace(ctx: ToolContext): Workspace {
    const workspace = this.#given ?? this.#ownFor(ctx);
    if (!this.#listening.has(workspace)) {
      // Edits of other tools through the same workspace are followed exactly, too.
      const stop = workspace.onCommit(({ files }) => {
        for (const { path, from, before, after, lineChanges } of files) {
          if (from !== undefined) {
            this.snapshots.move(from, path);
            this.shown.move(from, path);
          }
          if (before === null || after === null || before === after) continue;
          this.snapshots.linkChanges(path, before, after, lineChanges);
          this.shown.carry(path, before, after, [lineChanges]);
        }
      });
      this.#listening.set(workspace, stop);
    }
    return workspace;
  }

  hasher(): Promise<LineHasher> {
    this.#hasher ??= createLineHasher();
    return this.#hasher;
  }

  codes(text: TextModel, hasher: LineHasher): TextCodes {
    return codesOf(text, hasher, this.settings);
  }

  /** Keeps a text that is shown to a session, and which of its lines were. */
  remember(file: TextFile, sessionId: string, lines: Ranges): void {
    this.snapshots.remember(file.path, { version: file.version, text: file });
    this.shown.show(file.path, sessionId, file.version, lines);
  }

  async close(): Promise<void> {
    for (const stop of this.#listening.values()) stop();
    this.#listening.clear();
    const own = [...this.#own.values()];
    this.#own.clear();
    await Promise.all(own.map((workspace) => workspace.close()));
  }

  #ownFor(ctx: ToolContext): Workspace {
    const key = JSON.stringify([ctx.directory, ...ctx.roots]);
    const known = this.#own.get(key);
    if (known) return known;
    const extraRoots = ctx.roots
      .filter((root) => resolve(root) !== resolve(ctx.directory))
      .map((path) => ({ path, access: "write" as const }));
    const made = createWorkspace({ root: ctx.directory, extraRoots });
    this.#own.set(key, made);
    return made;
  }
}

/** A path as replies name it: relative to the session's directory with "/", absolute when outside. */
export function shownPath(directory: string, path: string): string {
  const absolute = resolve(directory, path);
  const inside = relative(directory, absolute);
  const outside = inside === "" || inside === ".." || inside.startsWith(`..${sep}`) || resolve(inside) === inside;
  return (outside ? absolute : inside).split(sep).join("/");
}
