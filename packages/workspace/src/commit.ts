import { createHash } from "node:crypto";
import { dirname, join } from "node:path";
import type { Clock } from "@toolhaft/core";
import { createId, ToolError } from "@toolhaft/core";
import type { Access, Target } from "./access.ts";
import { applyStep } from "./apply.ts";
import { type Assembly, assemble } from "./assemble.ts";
import type { Draft } from "./draft.ts";
import { fileChanges } from "./file-change.ts";
import type { FileSystem } from "./file-system.ts";
import { type Fresh, type FreshOptions, readFresh } from "./fresh.ts";
import { type Pruner, recordOf } from "./history.ts";
import { CommitFolder, type Journal, type Known } from "./journal.ts";
import { type Held, type LockKey, type Locks, refuseAborted } from "./locks.ts";
import { ParentWatch } from "./parents.ts";
import { foldsCase, shownPath } from "./paths.ts";
import { dropHolds } from "./recover.ts";
import { removeIfEmpty, rollBack, sweep } from "./rollback.ts";
import { absentAs } from "./small-file.ts";
import { backUpAll, stageAll } from "./stage.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { refuseRewritten } from "./state-of.ts";
import { isAbsent, toToolError } from "./system-error.ts";
import type { CommitRecord, Committed, Scope } from "./types.ts";

/** What a commit needs of its workspace. */
export interface CommitEnvironment {
  readonly files: FileSystem;
  readonly access: Access;
  readonly locks: Locks;
  readonly fresh: FreshOptions;
  readonly stateDir: string;
  readonly fsync: boolean;
  readonly inPlace: boolean;
  readonly pruner: Pruner;
  readonly clock: Clock;
  announce(record: CommitRecord): readonly string[];
}

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
    const { files, fsync, stateDir } = this.#env;
    const { drafts, result } = await request.propose(await this.#read(targets, request.scope));
    refuseAborted(request.scope.signal);
    if (drafts.length === 0) return { changes: [], result, notes: [] };
    if (!this.#stateReady) await ensureStateFolder(files, stateDir, "commits");
    this.#stateReady = true;
    const assembly = await assemble(drafts, { ...this.#env, id, commitPath });
    const changes = await fileChanges(files, drafts);
    const journal = journalOf(assembly, request, held, { id, time: this.#env.clock.now(), fsync });
    const run = new Run(this.#env, new CommitFolder(files, commitPath), assembly, journal, held);
    const warnings = await run.commit(drafts, request.scope.signal).catch((error: unknown): never => {
      // Somebody may have removed the state folder since it was made.
      if (isAbsent(error)) this.#stateReady = false;
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

/** One commit from its journal to its end. */
class Run {
  readonly #env: CommitEnvironment;
  readonly #folder: CommitFolder;
  readonly #assembly: Assembly;
  readonly #journal: Journal;
  readonly #held: Held;

  constructor(env: CommitEnvironment, folder: CommitFolder, assembly: Assembly, journal: Journal, held: Held) {
    this.#env = env;
    this.#folder = folder;
    this.#assembly = assembly;
    this.#journal = journal;
    this.#held = held;
  }

  /** @returns warnings */
  async commit(drafts: readonly Draft[], signal: AbortSignal | undefined): Promise<string[]> {
    const warnings = await this.#prepare(drafts, signal);
    await this.#apply();
    return [...warnings, ...(await this.#close(drafts))];
  }

  /** Everything up to the decision; a failure leaves nothing behind. */
  async #prepare(drafts: readonly Draft[], signal: AbortSignal | undefined): Promise<readonly string[]> {
    const { files, fsync } = this.#env;
    try {
      const parents = await ParentWatch.of(files, this.#journal.steps);
      await this.#folder.begin(this.#journal);
      const warnings = await stageAll(files, this.#assembly, fsync);
      for (const { path, before, readAt } of knownOf(drafts)) await refuseRewritten(files, path, before, readAt);
      await backUpAll(files, this.#assembly.backups, fsync);
      if (fsync) await files.syncFolder(dirname(this.#folder.path));
      await parents.check();
      if (!(await this.#held.verify())) throw lostLock();
      refuseAborted(signal);
      if (!this.#journal.fast) await this.#folder.advance("staging", "committing", fsync);
      return warnings;
    } catch (error) {
      await this.#forget();
      throw error;
    }
  }

  async #apply(): Promise<void> {
    try {
      for (const step of this.#journal.steps) await applyStep(this.#env.files, step, this.#env.fsync);
    } catch (error) {
      await this.#takeBack(error);
      throw error;
    }
  }

  async #takeBack(cause: unknown): Promise<void> {
    const { files, fsync } = this.#env;
    if (!this.#journal.fast) {
      await twice(() => this.#folder.advance("committing", "rolling-back", fsync)).catch((error: unknown) => {
        throw this.#brokenRollback(cause, [String(error)]);
      });
    }
    const { failed } = await rollBack(files, this.#journal, undefined);
    if (failed.length > 0) {
      const lines = failed.map(({ step, error }) => {
        const backup = "backup" in step && step.backup ? `, old content in ${step.backup}` : "";
        return `${step.path}: ${toToolError(error, "restore it").message}${backup}`;
      });
      throw this.#brokenRollback(cause, lines);
    }
    await this.#forget();
  }

  #brokenRollback(cause: unknown, lines: readonly string[]): ToolError {
    const first = toToolError(cause, "commit the change").message;
    return new ToolError("internal", `the commit failed (${first}) and could not be taken back:\n${lines.join("\n")}`, {
      hint: `the journal is kept in ${this.#folder.path}; it is taken up again when this process has ended`,
      details: { commit: this.#journal.id, steps: this.#journal.steps.map((step) => step.path) },
      cause,
    });
  }

  /** Removes what a commit that did not happen has left. The first failure of all is what the caller hears of. */
  async #forget(): Promise<void> {
    const { files } = this.#env;
    await twice(() => sweep(files, this.#journal)).catch(() => undefined);
    await twice(() => this.#folder.remove()).catch(() => undefined);
  }

  /** After the decision nothing fails any more: what goes wrong is told in a note. */
  async #close(drafts: readonly Draft[]): Promise<readonly string[]> {
    const { files, fsync, pruner } = this.#env;
    const notes: string[] = [];
    const noting = async (what: string, step: () => Promise<unknown>) => {
      await twice(step).catch((error: unknown) =>
        notes.push(`${what}: ${toToolError(error, "finish the commit").message}`),
      );
    };
    for (const draft of drafts) {
      if (draft.kind !== "write" || draft.body.kind !== "staged") continue;
      const { source } = draft.body;
      await noting("a staged file could not be removed", () => source.discard());
    }
    await noting("a backup could not be removed", () => dropHolds(files, this.#journal));
    const from = this.#journal.fast ? "staging" : "committing";
    try {
      await twice(() => this.#folder.advance(from, "done", fsync));
      await noting("old commits could not be removed", async () => {
        await pruner.add(this.#journal);
        await pruner.prune();
      });
    } catch (error) {
      notes.push(`this commit cannot be undone: ${toToolError(error, "close its journal").message}`);
      await noting("its journal could not be removed", () => this.#folder.remove());
    }
    return notes;
  }
}

function knownOf(drafts: readonly Draft[]): readonly { path: string; before: Known; readAt: number }[] {
  return drafts.flatMap((draft) => {
    if (draft.kind === "write" || draft.kind === "delete") {
      return draft.before ? [{ path: draft.at.target.path, before: draft.before, readAt: draft.at.readAt }] : [];
    }
    if (draft.kind !== "move") return [];
    const { from, to, before, over } = draft;
    return [
      { path: from.target.path, before, readAt: from.readAt },
      ...(over ? [{ path: to.target.path, before: over, readAt: to.readAt }] : []),
    ];
  });
}

function lostLock(): ToolError {
  return new ToolError(
    "conflict",
    "the lock was broken by another process, which took this one for dead; nothing was written",
    {
      hint: "repeat the call",
    },
  );
}

async function twice<T>(step: () => Promise<T>): Promise<T> {
  return step().catch(step);
}
