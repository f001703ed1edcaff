import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { systemClock, ToolError } from "@toolhaft/core";
import { createAccess, type Target } from "./access.ts";
import { Committer, lockKeys } from "./commit.ts";
import { draftChanges } from "./draft.ts";
import type { FileSystem } from "./file-system.ts";
import { FreshFiles } from "./fresh.ts";
import { doneJournals, Pruner, recordOf, undoneIds } from "./history.ts";
import { ownerName, ownFacts } from "./holder.ts";
import { LockFolder } from "./lock-files.ts";
import { Locks, refuseAborted } from "./locks.ts";
import { nodeFileSystem } from "./node-file-system.ts";
import { codecFor, readBytes, textFile } from "./read-file.ts";
import { Recoverer } from "./recover.ts";
import { StagedFiles } from "./staged-file.ts";
import { ensureStateFolder } from "./state-folder.ts";
import { toToolError } from "./system-error.ts";
import type {
  CommitRecord,
  Committed,
  EditOptions,
  Plan,
  Recovery,
  ResolvedPath,
  Scope,
  StagedFile,
  TextFile,
  Workspace,
  WorkspaceOptions,
} from "./types.ts";
import { commitToUndo, undoRequest } from "./undo.ts";

const MIB = 1024 * 1024;

/**
 * Text files of a folder: read as bytes, changed by all-or-nothing commits, locked against other processes, recovered
 * after a crash. Opens nothing; the first call does.
 *
 * @example
 * await using workspace = createWorkspace({ root: process.cwd() });
 * const scope = { directory: process.cwd() };
 * await workspace.edit(["notes.txt"], () => ({
 *   changes: [{ kind: "create", path: "notes.txt", bytes: Buffer.from("hello\n") }],
 *   result: undefined,
 * }), scope);
 */
export function createWorkspace(options: WorkspaceOptions): Workspace {
  return new FolderWorkspace(options);
}

/** What is made at the first call. */
interface Opened {
  readonly locks: Locks;
  readonly recoverer: Recoverer;
  readonly folder: LockFolder;
  readonly committer: Committer;
}

class FolderWorkspace implements Workspace {
  readonly #options: WorkspaceOptions;
  readonly #files: FileSystem;
  readonly #access;
  readonly #staged: StagedFiles;
  readonly #root: string;
  readonly #stateDir: string;
  readonly #maxFileBytes: number;
  readonly #lockTimeoutMs: number;
  readonly #listeners = new Set<(commit: CommitRecord) => void>();
  readonly #running = new Set<Promise<unknown>>();
  /** Recoveries that no reply has told of yet. */
  #untold: Recovery[] = [];
  #opened: Promise<Opened> | undefined;
  #recovered: Promise<unknown> | undefined;
  #closed = false;

  constructor(options: WorkspaceOptions) {
    this.#options = options;
    this.#files = options.fileSystem ?? nodeFileSystem;
    this.#root = resolve(options.root);
    this.#stateDir = resolve(options.stateDir ?? join(this.#root, ".toolhaft", "workspace"));
    this.#maxFileBytes = options.maxFileBytes ?? 64 * MIB;
    this.#lockTimeoutMs = options.lockTimeoutMs ?? 10_000;
    this.#staged = new StagedFiles(this.#files);
    this.#access = createAccess({
      files: this.#files,
      root: this.#root,
      extraRoots: options.extraRoots ?? [],
      protectedPaths: options.protectedPaths ?? [".git"],
      stateDir: this.#stateDir,
    });
  }

  resolve(path: string, access: "read" | "write", scope: Scope): Promise<ResolvedPath> {
    return this.#run(async () => {
      const { stat: _, ...resolved } = await this.#located(path, access, scope);
      return resolved;
    });
  }

  read(path: string, scope: Scope): Promise<TextFile> {
    return this.#run(async () => {
      refuseAborted(scope.signal);
      await this.#ensureRecovered();
      const target = await this.#located(path, "read", scope);
      if (!target.stat) throw new ToolError("not_found", `${target.shown} does not exist`, { hint: "check the path" });
      const shared = target.stat.kind === "file" && (this.#options.writeMode === "in-place" || target.stat.links > 1);
      return shared ? this.#readLocked(target, scope) : this.#readNow(target);
    });
  }

  edit<T>(paths: readonly string[], plan: Plan<T>, scope: Scope, options: EditOptions = {}): Promise<Committed<T>> {
    return this.#run(async () => {
      await this.#ensureRecovered();
      const { committer } = await this.#open();
      const committed = await committer.run({
        paths,
        scope,
        dryRun: options.dryRun ?? false,
        propose: async (fresh) => {
          const { changes, result } = plan(new FreshFiles(fresh));
          const drafts = await draftChanges(changes, {
            ...options,
            maxFileBytes: this.#maxFileBytes,
            newMode: 0o666 & ~this.#files.umask(),
            kept: [this.#root, this.#stateDir],
            find: (path) =>
              fresh.get(path) ??
              [...fresh.values()].find(({ target }) => target.path === path || target.given === path),
            sourceOf: (staged) => this.#staged.sourceOf(staged),
          });
          return { drafts, result };
        },
      });
      return this.#told(committed);
    });
  }

  undo(commitId: string | undefined, scope: Scope, options: { dryRun?: boolean } = {}): Promise<Committed<void>> {
    return this.#run(async () => {
      await this.#ensureRecovered();
      const { committer } = await this.#open();
      const journal = commitToUndo(await doneJournals(this.#files, this.#commits), commitId, scope);
      const kept = [this.#root, this.#stateDir];
      return this.#told(await committer.run(undoRequest(this.#files, journal, scope, options.dryRun ?? false, kept)));
    });
  }

  stage(scope: Scope): Promise<StagedFile> {
    return this.#run(async () => {
      refuseAborted(scope.signal);
      await this.#ensureRecovered();
      const folder = await ensureStateFolder(this.#files, this.#stateDir, "staged");
      return this.#staged.create(folder, `${ownerName(await ownFacts())}-${randomUUID()}`);
    });
  }

  history(): Promise<readonly CommitRecord[]> {
    return this.#run(async () => {
      await this.#ensureRecovered();
      const journals = await doneJournals(this.#files, this.#commits);
      const undone = undoneIds(journals);
      return journals.map((journal) => recordOf(journal, undone.has(journal.id)));
    });
  }

  recover(): Promise<readonly Recovery[]> {
    return this.#run(() => {
      const recovering = this.#recover();
      this.#recovered = recovering.catch(() => {
        this.#recovered = undefined;
      });
      return recovering;
    });
  }

  onCommit(listener: (commit: CommitRecord) => void): () => void {
    // Wrapped, so that one function given twice is called twice and taken off once.
    const own = (commit: CommitRecord) => listener(commit);
    this.#listeners.add(own);
    return () => void this.#listeners.delete(own);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.allSettled(this.#running);
    this.#listeners.clear();
    await this.#staged.discardAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  get #commits(): string {
    return join(this.#stateDir, "commits");
  }

  /** Every call: refused after closing, awaited by closing, its system errors put in words. */
  async #run<T>(call: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new ToolError("unavailable", "the workspace is closed", { hint: "create a new one" });
    const running = call();
    this.#running.add(running);
    try {
      return await running;
    } catch (error) {
      throw toToolError(error, "use the workspace");
    } finally {
      this.#running.delete(running);
    }
  }

  async #located(path: string, access: "read" | "write", scope: Scope): Promise<Target> {
    const target = await this.#access.locate(path, access, scope);
    await this.#access.pass([target], access, scope);
    return target;
  }

  async #readNow(target: Target): Promise<TextFile> {
    const found = await readBytes(this.#files, target.path, target.shown, this.#maxFileBytes).catch(
      (error: unknown) => {
        throw toToolError(error, `read ${target.shown}`);
      },
    );
    const encodingOf = this.#options.encodingOf?.bind(this.#options);
    return textFile(target.path, found, await codecFor(target.path, target.shown, found.bytes, encodingOf, false));
  }

  /** A file that is written in place is half old and half new for a moment. */
  async #readLocked(target: Target, scope: Scope): Promise<TextFile> {
    const { locks } = await this.#open();
    const held = await locks.acquire(lockKeys(target), join(this.#commits, "reading"), scope.signal);
    try {
      return await this.#readNow(target);
    } finally {
      await held.release();
    }
  }

  #open(): Promise<Opened> {
    this.#opened ??= this.#make().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #make(): Promise<Opened> {
    const files = this.#files;
    const own = await ownFacts();
    const uid = process.getuid?.() ?? "user";
    const folder = new LockFolder(
      files,
      resolve(this.#options.lockDir ?? join(tmpdir(), `toolhaft-locks-${uid}`)),
      own,
    );
    const recoverer = new Recoverer({ files, own, folder });
    const locks = new Locks({
      folder,
      timeoutMs: this.#lockTimeoutMs,
      settle: async (dead, token) => {
        const recoveries = await recoverer.settle(dead, token);
        this.#untold.push(...(recoveries ?? []));
        return recoveries !== undefined;
      },
    });
    const committer = new Committer({
      files,
      access: this.#access,
      locks,
      fresh: {
        files,
        maxFileBytes: this.#maxFileBytes,
        encodingOf: this.#options.encodingOf?.bind(this.#options),
      },
      stateDir: this.#stateDir,
      fsync: this.#options.fsync ?? true,
      inPlace: this.#options.writeMode === "in-place",
      pruner: new Pruner(files, this.#commits, {
        commits: this.#options.undo?.commits ?? 50,
        bytes: this.#options.undo?.bytes ?? 64 * MIB,
      }),
      clock: this.#options.clock ?? systemClock,
      announce: (record) => this.#announce(record),
    });
    return { locks, recoverer, folder, committer };
  }

  #ensureRecovered(): Promise<unknown> {
    this.#recovered ??= this.#recover().catch((error: unknown) => {
      this.#recovered = undefined;
      throw error;
    });
    return this.#recovered;
  }

  async #recover(): Promise<readonly Recovery[]> {
    const { recoverer, folder } = await this.#open();
    const recoveries = await recoverer.recoverAll(this.#stateDir, this.#lockTimeoutMs, () =>
      folder.createToken(join(this.#commits, "recovering")),
    );
    this.#untold.push(...recoveries);
    return recoveries;
  }

  #announce(record: CommitRecord): readonly string[] {
    const notes: string[] = [];
    for (const listener of this.#listeners) {
      try {
        listener(record);
      } catch (error) {
        notes.push(`a listener of commits failed: ${toToolError(error, "tell it of the commit").message}`);
      }
    }
    return notes;
  }

  /** The next reply after a recovery tells of it, once. */
  #told<T>(committed: Committed<T>): Committed<T> {
    const untold = this.#untold;
    this.#untold = [];
    return { ...committed, notes: [...untold.map(sentenceOf), ...committed.notes] };
  }
}

function sentenceOf({ commit, outcome, files }: Recovery): string {
  const what = outcome === "finished" ? "was finished" : "was taken back";
  const odd = files.flatMap(({ path, state, found }) => {
    if (state === "left-alone") return [`${path} was written by somebody else since and left alone`];
    return state === "torn" ? [`${path} was half written; what was found is kept in ${found ?? "its folder"}`] : [];
  });
  return [`commit ${commit} of a process that died ${what}`, ...odd].join("; ");
}
