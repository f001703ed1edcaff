import { createHash, randomUUID } from "node:crypto";
import { basename, join } from "node:path";
import { ToolError } from "@toolhaft/core";
import type { FileSystem } from "./file-system.ts";
import {
  type Holder,
  type Liveness,
  livenessByName,
  livenessOf,
  ownerName,
  type ProcessFacts,
  parseHolder,
} from "./holder.ts";
import { absentAs, createFile, namesIn, readSmall, removeFile } from "./small-file.ts";
import { cannotLink, cannotMake, systemCode } from "./system-error.ts";

/** Held locks are touched this often. */
export const TOUCH_MS = 5_000;
/** A holder that cannot be seen counts as dead when its lock was not touched for this long. */
const STALE_MS = 30_000;

/** What stands in a lock file: a holder, or nothing readable in one torn by a crash. */
export interface Found {
  readonly path: string;
  readonly holder: Holder | undefined;
  readonly liveness: Liveness;
  /** Milliseconds since it was last touched. */
  readonly ageMs: number;
}

/** The token file of one taking of locks; every lock is a hard link to it. */
export interface Token {
  readonly path: string;
  readonly holder: Holder;
}

/** Lock files of one folder: creating them, judging their holders, breaking those of dead ones. */
export class LockFolder {
  readonly #files: FileSystem;
  readonly #own: ProcessFacts;
  readonly path: string;

  constructor(files: FileSystem, path: string, own: ProcessFacts) {
    this.#files = files;
    this.#own = own;
    this.path = path;
  }

  /** @throws ToolError `denied` when the folder is a link or belongs to somebody else, `unavailable` when it cannot be made */
  async ensure(): Promise<void> {
    try {
      await this.#files.mkdir(this.path, 0o700);
    } catch (error) {
      if (systemCode(error) !== "EEXIST") throw cannotMake(error, `the lock folder ${this.path}`, "lockDir");
    }
    const stat = await this.#files.lstat(this.path);
    const uid = process.getuid?.();
    if (stat.kind !== "directory" || (uid !== undefined && (stat.uid !== uid || (stat.mode & 0o022) !== 0))) {
      throw new ToolError("denied", `the lock folder ${this.path} is not a folder of this user alone`, {
        hint: "remove it, or choose another lockDir",
      });
    }
  }

  lockPath(key: string): string {
    return join(this.path, `${key}.lock`);
  }

  async createToken(journal: string): Promise<Token> {
    const token = `${ownerName(this.#own)}-${randomUUID()}`;
    const holder: Holder = { ...this.#own, token, journal };
    const path = join(this.path, `${token}.token`);
    await createFile(this.#files, path, JSON.stringify(holder), false);
    return { path, holder };
  }

  /** Makes `path` a lock of this token; false where one is already. */
  async place(token: Token, path: string): Promise<boolean> {
    try {
      await this.#files.link(token.path, path);
      return true;
    } catch (error) {
      if (systemCode(error) === "EEXIST") return false;
      if (!cannotLink(error)) throw error;
    }
    try {
      await createFile(this.#files, path, JSON.stringify(token.holder), false);
      return true;
    } catch (error) {
      if (systemCode(error) === "EEXIST") return false;
      throw error;
    }
  }

  async isOwn(token: Token, path: string): Promise<boolean> {
    const text = await readSmall(this.#files, path);
    return text !== undefined && parseHolder(text)?.token === token.holder.token;
  }

  async look(path: string): Promise<Found | undefined> {
    const text = await readSmall(this.#files, path);
    const stat = await absentAs(undefined, () => this.#files.stat(path));
    if (text === undefined || !stat) return undefined;
    const holder = parseHolder(text);
    const ageMs = Math.max(0, Date.now() - Number(stat.mtimeNs / 1_000_000n));
    const seen = holder ? await livenessOf(holder, this.#own) : await livenessByName(basename(path), this.#own);
    return { path, holder, ageMs, liveness: seen === "unseen" && ageMs > STALE_MS ? "dead" : seen };
  }

  async touch(token: Token, locks: readonly string[]): Promise<void> {
    await this.#files.touch(token.path);
    // Where links fail every lock is a file of its own.
    if ((await this.#files.stat(token.path)).links <= locks.length) {
      for (const path of locks) if (await this.isOwn(token, path)) await this.#files.touch(path);
    }
  }

  /** Takes a lock file away if it still is this token's. */
  async remove(token: Token, path: string): Promise<void> {
    if (await this.isOwn(token, path)) await removeFile(this.#files, path);
  }

  async removeToken(token: Token): Promise<void> {
    await removeFile(this.#files, token.path);
  }

  /**
   * The sole right to act for a dead holder: to break its locks and to recover its journal. It is a lock file named by
   * the dead token, which never comes back; so whoever takes it by an outdated look finds nothing left to break. When
   * its own holder died, the right over that one is taken first, and so on.
   *
   * @returns undefined while a living process has it
   */
  async claim(token: Token, dead: string): Promise<Claim | undefined> {
    const chain: { path: string; token: string }[] = [];
    for (let of = dead; ; ) {
      const path = this.#claimPath(of);
      if (await this.place(token, path)) {
        return (await this.#stands(chain)) ? this.#claimOf(token, path, chain) : this.#drop(token, path);
      }
      const found = await this.look(path);
      if (!found) continue;
      const next = found.holder?.token ?? tornName(path);
      if (found.liveness !== "dead" || chain.some((link) => link.token === next)) return undefined;
      chain.push({ path, token: next });
      of = next;
    }
  }

  #claimPath(token: string): string {
    return join(this.path, `${token}.break`);
  }

  /** Whether every claim that was found dead is still in its place: else the work was done by somebody else. */
  async #stands(chain: readonly { path: string; token: string }[]): Promise<boolean> {
    for (const { path, token } of chain) {
      const text = await readSmall(this.#files, path);
      if (text === undefined || (parseHolder(text)?.token ?? tornName(path)) !== token) return false;
    }
    return true;
  }

  async #drop(token: Token, path: string): Promise<undefined> {
    await this.remove(token, path);
    return undefined;
  }

  #claimOf(token: Token, own: string, chain: readonly { path: string; token: string }[]): Claim {
    return {
      release: async () => {
        for (const link of chain) {
          await removeFile(this.#files, link.path);
          await removeFile(this.#files, join(this.path, `${link.token}.token`));
        }
        await this.remove(token, own);
      },
    };
  }

  /** All lock, token and claim files. */
  async list(): Promise<readonly string[]> {
    const names = await namesIn(this.#files, this.path);
    return names.filter((name) => /\.(lock|token|break)$/.test(name)).map((name) => join(this.path, name));
  }
}

export interface Claim {
  release(): Promise<void>;
}

/** Stands for the token of a lock file that a crash left unreadable. */
export function tornName(path: string): string {
  return `torn-${createHash("sha256").update(path).digest("hex").slice(0, 32)}`;
}
