import type { Clock } from "@toolhaft/core";
import { ToolError } from "@toolhaft/core";
import type { Access } from "./access.ts";
import { applyStep } from "./apply.ts";
import type { Assembly } from "./assemble.ts";
import type { Draft } from "./draft.ts";
import type { FileSystem } from "./file-system.ts";
import type { FreshOptions } from "./fresh.ts";
import type { Pruner } from "./history.ts";
import type { CommitFolder, Journal, Known } from "./journal.ts";
import { type Held, type Locks, refuseAborted } from "./locks.ts";
import { ParentWatch } from "./parents.ts";
import { dropHolds } from "./recover.ts";
import { rollBack, sweep } from "./rollback.ts";
import { backUpAll, stageAll } from "./stage.ts";
import { refuseRewritten } from "./state-of.ts";
import { toToolError } from "./system-error.ts";
import type { CommitRecord } from "./types.ts";

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

/** One commit from its journal to its end. */
export class CommitRun {
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
