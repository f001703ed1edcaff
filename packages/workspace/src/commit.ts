import { createHash } from "node:crypto";
import { join } from "node:path";
import { createId, ToolError } from "@toolhaft/core";
import type { Target } from "./access.ts";
import { type Assembly, assemble } from "./assemble.ts";
import { type CommitEnvironment, CommitRun } from "./commit-run.ts";
import type { Draft } from "./draft.ts";
import { fileChanges } from "./file-change.ts";
import { type Fresh, readFresh } from "./fresh.ts";
import { recordOf } from "./history.ts";
import { CommitFolder, type Journal } from "./journal.ts";
import { type Held, type LockKey, refuseAborted } from "./locks.ts";
import { foldsCase, shownPath } from "./paths.ts";
import { removeIfEmpty } from "./rollback.ts";
import { absentAs } from "./small-file.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { lookAt } from "./state-of.ts";
import { toToolError } from "./system-error.ts";
import type { Committed, Scope } from "./types.ts";

/** What is to be changed, made under the locks. */
export interface Proposal<T> {
  readonly drafts: readonly Draft[];
  readonly result: T;
}

export interface CommitRequest<T> {
  readonly paths: readonly string[];
  readonly scope: Scope;
  readonly dryRun: boolean;
  readonly undoOf?: string;
  /** Folders that go afterwards if they are empty, outermost first. */
  readonly emptied?: readonly string[];
  propose(files: ReadonlyMap<string, Fresh>): Promise<Proposal<T>>;
}

/** Tries to lock paths that change their meaning while they are waited for. */
const MAX_ATTEMPTS = 5;

export class Committer {
  readonly #env: CommitEnvironment;
  #lastId = 0;
  #stateReady = false;

  constructor(env: CommitEnvironment) {
    this.#env = env;
  }

  async run<T>(request: CommitRequest<T>): Promise<Committed<T>> {
    const { scope, dryRun } = request;
    refuseAborted(scope.signal);
    if (dryRun) return this.#dryRun(request);
    const id = this.#newId();
    const commitPath = join(this.#env.stateDir, "commits", id);
    const { held, targets } = await this.#lock(request, commitPath);
    let failed = true;
    try {
      const committed = await this.#underLocks(request, targets, held, id, commitPath);
      failed = false;
      const note = await unlocked(held);
      return note === undefined ? committed : { ...committed, notes: [...committed.notes, note] };
    } finally {
      if (failed) await unlocked(held);
    }
  }

  async #dryRun<T>(request: CommitRequest<T>): Promise<Committed<T>> {
    const targets = await this.#locate(request);
    await this.#env.access.pass([...targets.values()], "write", request.scope);
    const { drafts, result } = await request.propose(await this.#read(targets, request.scope));
    await assemble(drafts, { ...this.#env, id: "dry-run", commitPath: join(this.#env.stateDir, "commits", "dry-run") });
    return { changes: await fileChanges(this.#env.files, drafts), result, notes: [] };
  }

  /** Somebody may have removed the folder since it was made. */
  async #ensureState(): Promise<void> {
    const { files, stateDir } = this.#env;
    if (this.#stateReady && (await lookAt(files, join(stateDir, "commits")))) return;
    await ensureStateFolder(files, stateDir, "commits");
    this.#stateReady = true;
  }

  /** A time-ordered id, later than every one of this workspace object. */
  #newId(): string {
    this.#lastId = Math.max(this.#lastId + 1, this.#env.clock.now());
    return createId(this.#lastId);
  }

  async #locate({ paths, scope }: CommitRequest<unknown>): Promise<ReadonlyMap<string, Target>> {
    const targets = new Map<string, Target>();
    for (const path of paths) {
      const target = await this.#env.access.locate(path, "write", scope);
      const twin = [...targets.values()].find((other) => isSame(other, target));
      if (twin || targets.has(path)) {
        throw new ToolError("invalid_input", `${twin?.shown ?? path} and ${target.shown} are the same file`, {
          hint: "name each file once",
        });
      }
      targets.set(path, target);
    }
    return targets;
  }

  /** Locks what the paths mean. What they mean may change while the locks are waited for. */
  async #lock(request: CommitRequest<unknown>, commitPath: string) {
    const { access, locks } = this.#env;
    let targets = await this.#locate(request);
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      await access.pass([...targets.values()], "write", request.scope);
      const wanted = [...targets.values()].flatMap(lockKeys);
      const held = await locks.acquire(wanted, commitPath, request.scope.signal);
      try {
        targets = await this.#locate(request);
      } catch (error) {
        await unlocked(held);
        throw error;
      }
      const now = [...targets.values()].flatMap(lockKeys);
      if (now.every(({ key }) => held.keys.includes(key))) return { held, targets };
      await unlocked(held);
    }
    throw new ToolError("conflict", "the paths of the call keep leading to other files", {
      hint: "repeat the call later",
    });
  }

  async #read(targets: ReadonlyMap<string, Target>, scope: Scope): Promise<ReadonlyMap<string, Fresh>> {
    const { files, fresh } = this.#env;
    const base = await absentAs(scope.directory, () => files.realpath(scope.directory));
    const read = new Map<string, Fresh>();
    for (const [path, target] of targets) read.set(path, await readFresh(fresh, target, shownPath(target.path, base)));
    return read;
  }

  async #underLocks<T>(
    request: CommitRequest<T>,
    targets: ReadonlyMap<string, Target>,
    held: Held,
    id: string,
    commitPath: string,
  ): Promise<Committed<T>> {
    const { files, fsync } = this.#env;
    const { drafts, result } = await request.propose(await this.#read(targets, request.scope));
    refuseAborted(request.scope.signal);
    if (drafts.length === 0) return { changes: [], result, notes: [] };
    await this.#ensureState();
    const assembly = await assemble(drafts, { ...this.#env, id, commitPath });
    const changes = await fileChanges(files, drafts);
    const journal = journalOf(assembly, request, held, { id, time: this.#env.clock.now(), fsync });
    const run = new CommitRun(this.#env, new CommitFolder(files, commitPath), assembly, journal, held);
    const warnings = await run.commit(drafts, request.scope.signal).catch((error: unknown): never => {
      throw toToolError(error, "commit the change");
    });
    for (const folder of [...(request.emptied ?? [])].reverse()) {
      await removeIfEmpty(files, folder).catch((error: unknown) =>
        warnings.push(toToolError(error, `remove ${folder}`).message),
      );
    }
    const notes = [...warnings, ...this.#env.announce(recordOf(journal))];
    return { id, changes, result, notes };
  }
}

async function unlocked(held: Held): Promise<string | undefined> {
  return held.release().then(
    () => undefined,
    (error: unknown) => `a lock could not be removed: ${toToolError(error, "unlock").message}`,
  );
}

function isSame(a: Target, b: Target): boolean {
  if (a.path === b.path) return true;
  if (!a.stat || !b.stat || a.stat.ino !== b.stat.ino || a.stat.dev !== b.stat.dev) return false;
  // On a file system without case both names of a change of case are found.
  return a.path.toLowerCase() !== b.path.toLowerCase();
}

/** A file is locked by its real path, and by its inode where other names lead to it. */
export function lockKeys({ path, shown, stat }: Target): readonly LockKey[] {
  const keys = [{ key: keyOf(foldsCase ? path.toLowerCase() : path), shown }];
  if (stat?.kind === "file" && stat.links > 1) keys.push({ key: keyOf(`inode:${stat.dev}:${stat.ino}`), shown });
  return keys;
}

function keyOf(name: string): string {
  return createHash("sha256").update(name).digest("hex");
}

function journalOf(
  assembly: Assembly,
  request: CommitRequest<unknown>,
  held: Held,
  about: { id: string; time: number; fsync: boolean },
): Journal {
  return {
    format: 1,
    ...about,
    ...(request.scope.sessionId === undefined ? {} : { sessionId: request.scope.sessionId }),
    ...(request.undoOf === undefined ? {} : { undoOf: request.undoOf }),
    owner: held.token.holder,
    keys: held.keys,
    fast: assembly.fast,
    folders: assembly.folders,
    steps: assembly.steps,
    files: assembly.files,
    backupBytes: assembly.backups.reduce((sum, { before }) => sum + before.bytes, 0),
  };
}
