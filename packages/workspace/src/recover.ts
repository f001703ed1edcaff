import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { copyFile } from "./copy-file.ts";
import type { FileSystem } from "./file-system.ts";
import { finish } from "./finish.ts";
import { type Holder, type Liveness, livenessByName, livenessOf, type ProcessFacts } from "./holder.ts";
import { CommitFolder, type Journal, type Opened } from "./journal.ts";
import { type Found, type LockFolder, type Token, tornName } from "./lock-files.ts";
import { rollBack, sweep } from "./rollback.ts";
import { absentAs, namesIn, removeFile } from "./small-file.ts";
import { contentOf } from "./state-of.ts";
import type { RecoveredFile, Recovery } from "./types.ts";

export interface RecoveryOptions {
  readonly files: FileSystem;
  readonly own: ProcessFacts;
  /** Where the locks are whose dead holders are met. */
  readonly folder: LockFolder;
}

/** Repairs what dead processes left, for one caller; the right to do it is claimed per dead process. */
export class Recoverer {
  readonly #options: RecoveryOptions;

  constructor(options: RecoveryOptions) {
    this.#options = options;
  }

  /**
   * Recovers the journal that a dead lock names, then breaks all locks of its holder.
   *
   * @returns what was recovered, or undefined while another process does it
   */
  async settle(dead: Found, token: Token): Promise<readonly Recovery[] | undefined> {
    const { holder } = dead;
    if (!holder) return this.#settleTorn(dead, token);
    return this.#claimed(this.#options.folder, token, holder.token, async () => {
      const recovery = await this.#recoverCommit(holder.journal);
      await this.#breakAll(this.#options.folder, holder.token);
      return recovery ? [recovery] : [];
    });
  }

  /** Everything that dead processes left of the commits in one state folder. */
  async recoverAll(stateDir: string, waitMs: number, createToken: () => Promise<Token>): Promise<readonly Recovery[]> {
    const { files, folder, own } = this.#options;
    const commits = join(stateDir, "commits");
    // Commits first: whose folder is there had its locks before.
    const ids = await namesIn(files, commits);
    const found = await this.#lookAtLocks(commits);
    const dead = new Map<string, Holder | undefined>();
    for (const { holder, liveness, path } of found) {
      if (liveness === "dead") dead.set(holder?.token ?? tornName(path), holder);
    }
    const open: string[] = [];
    for (const id of ids) {
      const path = join(commits, id);
      const opened = await new CommitFolder(files, path).open();
      if (opened?.state === "done" && opened.journal) continue;
      const owner = opened?.journal?.owner;
      if (owner ? (await livenessOf(owner, own)) === "alive" : found.some((lock) => isLive(lock, path))) continue;
      open.push(path);
      if (owner) dead.set(owner.token, owner);
    }
    await this.#sweepStaged(join(stateDir, "staged"));
    if (dead.size === 0 && open.length === 0) return [];

    await folder.ensure();
    const token = await createToken();
    try {
      const recoveries: Recovery[] = [];
      const end = performance.now() + waitMs;
      for (const [name, holder] of dead) {
        const repair = async () => {
          const recovery = holder ? await this.#recoverCommit(holder.journal) : undefined;
          await this.#breakAll(folder, name);
          return recovery ? [recovery] : [];
        };
        let done = await this.#claimed(folder, token, name, repair);
        // Another process is at it: nothing may be written before it is through.
        while (!done && performance.now() < end) {
          await sleep(10);
          done = await this.#claimed(folder, token, name, repair);
        }
        recoveries.push(...(done ?? []));
      }
      for (const path of open) await this.#dropOrphan(path);
      return recoveries;
    } finally {
      await folder.removeToken(token);
    }
  }

  async #lookAtLocks(commits: string): Promise<readonly Found[]> {
    const found: Found[] = [];
    for (const path of await this.#options.folder.list()) {
      const lock = await this.#options.folder.look(path);
      const ours = lock && (lock.holder ? dirname(lock.holder.journal) === commits : path.endsWith(".token"));
      if (ours) found.push(lock);
    }
    return found;
  }

  async #claimed<T>(folder: LockFolder, token: Token, dead: string, act: () => Promise<T>): Promise<T | undefined> {
    const claim = await folder.claim(token, dead);
    if (!claim) return undefined;
    try {
      return await act();
    } finally {
      await claim.release();
    }
  }

  async #settleTorn(dead: Found, token: Token): Promise<readonly Recovery[] | undefined> {
    const { folder, files } = this.#options;
    return this.#claimed(folder, token, tornName(dead.path), async () => {
      const now = await folder.look(dead.path);
      if (now && !now.holder && now.liveness === "dead") await removeFile(files, dead.path);
      return [];
    });
  }

  /** Under the right over a dead holder: its locks, its token, and the rights over others that it died with. */
  async #breakAll(folder: LockFolder, token: string): Promise<void> {
    for (const path of await folder.list()) {
      const found = await folder.look(path);
      if (found && (found.holder?.token ?? tornName(path)) === token) await removeFile(this.#options.files, path);
    }
  }

  /** Under the right over its dead owner. */
  async #recoverCommit(path: string): Promise<Recovery | undefined> {
    const { files, own } = this.#options;
    const folder = new CommitFolder(files, path);
    const opened = await folder.open();
    if (!opened?.journal) {
      if (await absentAs(undefined, () => files.stat(path))) await removeUnless(folder, opened);
      return undefined;
    }
    if (opened.state === "done" || (await livenessOf(opened.journal.owner, own)) === "alive") return undefined;
    return recoverJournal(files, folder, opened.state, opened.journal);
  }

  /** A commit folder without journal that no living process has a lock for. */
  async #dropOrphan(path: string): Promise<void> {
    const folder = new CommitFolder(this.#options.files, path);
    const opened = await folder.open();
    if (!opened?.journal) await removeUnless(folder, opened);
  }

  /** Staged files carry the pid of their process in the name. */
  async #sweepStaged(folder: string): Promise<void> {
    const { files, own } = this.#options;
    for (const name of await namesIn(files, folder)) {
      if (await isAbandoned(files, join(folder, name), await livenessByName(name, own)))
        await removeFile(files, join(folder, name));
    }
  }
}

/** A staged file of a process that cannot be seen is given a day. */
async function isAbandoned(files: FileSystem, path: string, owner: Liveness): Promise<boolean> {
  if (owner !== "unseen") return owner === "dead";
  const stat = await absentAs(undefined, () => files.stat(path));
  return stat !== undefined && Date.now() - Number(stat.mtimeNs / 1_000_000n) > 24 * 3_600_000;
}

/** A journal that is more than begun, but cannot be read, is kept for people. */
async function removeUnless(folder: CommitFolder, opened: Opened | undefined): Promise<void> {
  if (!opened || opened.state === "staging") await folder.remove();
}

function isLive({ holder, liveness }: Found, commit: string): boolean {
  return holder?.journal === commit && liveness !== "dead";
}

async function recoverJournal(
  files: FileSystem,
  folder: CommitFolder,
  state: Opened["state"],
  journal: Journal,
): Promise<Recovery> {
  const about = { commit: journal.id, ...(journal.sessionId === undefined ? {} : { sessionId: journal.sessionId }) };
  if (state === "committing") {
    const recovered = await finish(files, journal, keeper(files, folder.path));
    await sweep(files, { ...journal, folders: [] });
    await dropHolds(files, journal);
    await folder.advance("committing", "done", journal.fsync);
    return { ...about, outcome: "finished", files: recovered };
  }
  if (state === "staging") {
    const [step] = journal.steps;
    if (
      journal.fast &&
      step?.kind === "put" &&
      (await contentOf(files, step.path, step.before, step.after)) === "new"
    ) {
      await folder.advance("staging", "done", journal.fsync);
      return { ...about, outcome: "finished", files: [{ path: step.path, state: "new" }] };
    }
    await sweep(files, journal);
    await folder.remove();
    return { ...about, outcome: "rolled-back", files: untouched(journal) };
  }
  const { files: recovered, failed } = await rollBack(
    files,
    journal,
    keeper(files, join(dirname(dirname(folder.path)), "found", journal.id)),
  );
  if (failed[0]) throw failed[0].error;
  await sweep(files, journal);
  await folder.remove();
  return { ...about, outcome: "rolled-back", files: recovered };
}

function untouched(journal: Journal): readonly RecoveredFile[] {
  return journal.files.map(({ path, from }) => ({ path: from ?? path, state: "old" as const }));
}

/** Second names that only a rollback needed. */
export async function dropHolds(files: FileSystem, journal: Pick<Journal, "steps" | "files">): Promise<void> {
  const kept = new Set(journal.files.flatMap(({ backup, over }) => [backup, over?.backup]));
  for (const step of journal.steps) {
    if (step.kind !== "rename-folder" && step.backup && !kept.has(step.backup)) await removeFile(files, step.backup);
  }
}

/** Keeps torn content as `found-<n>`. */
function keeper(files: FileSystem, folder: string): (path: string) => Promise<string> {
  return async (path) => {
    for (const part of [dirname(folder), folder]) {
      await files.mkdir(part, 0o700).catch((error: unknown) => {
        if (error instanceof Error && "code" in error && error.code === "EEXIST") return;
        throw error;
      });
    }
    for (let n = 1; ; n++) {
      const to = join(folder, `found-${n}`);
      if (await absentAs(undefined, () => files.lstat(to))) continue;
      await copyFile(files, path, to, true);
      return to;
    }
  };
}
