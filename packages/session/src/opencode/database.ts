import { constants } from "node:fs";
import { chmod, copyFile, mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ForeignDatabase, openForeign } from "@toolhaft/sqlite";
import { isMissing } from "../folders.ts";

interface Opened {
  stamp: string;
  database: ForeignDatabase;
  folder: string | undefined;
}

/**
 * The host's databases, open for reading. New sessions may stand in the WAL alone, so it is never left out; and a WAL
 * database without its `-wal` and `-shm` is read from a private copy, for opening it would leave both beside it.
 */
export class HostDatabases {
  readonly #open = new Map<string, Opened>();

  /** The database as it stands now; the same handle while nothing of it changed. */
  async at(path: string): Promise<ForeignDatabase> {
    const [main, wal, shm] = await Promise.all([stampOf(path), stampOf(`${path}-wal`), stampOf(`${path}-shm`)]);
    const inPlace = wal !== undefined && shm !== undefined;
    const stamp = inPlace ? `in place ${main?.split(" ")[0]}` : `${main} ${wal}`;
    const known = this.#open.get(path);
    if (known?.stamp === stamp) return known.database;
    if (known !== undefined) await this.#drop(path, known);
    const opened = inPlace
      ? { stamp, database: await openForeign(path), folder: undefined }
      : { stamp, ...(await openCopy(path, wal !== undefined)) };
    this.#open.set(path, opened);
    return opened.database;
  }

  async close(): Promise<void> {
    for (const [path, opened] of this.#open) await this.#drop(path, opened);
  }

  async #drop(path: string, opened: Opened): Promise<void> {
    this.#open.delete(path);
    opened.database.close();
    if (opened.folder !== undefined) await rm(opened.folder, { recursive: true, force: true });
  }
}

async function openCopy(path: string, withWal: boolean): Promise<{ database: ForeignDatabase; folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), "toolhaft-opencode-"));
  try {
    const copy = join(folder, "copy.db");
    await copyFile(path, copy, constants.COPYFILE_FICLONE);
    await chmod(copy, 0o600);
    if (withWal) {
      await copyFile(`${path}-wal`, `${copy}-wal`, constants.COPYFILE_FICLONE);
      await chmod(`${copy}-wal`, 0o600);
    }
    return { database: await openForeign(copy), folder };
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
}

async function stampOf(path: string): Promise<string | undefined> {
  try {
    const found = await stat(path, { bigint: true });
    return `${found.ino} ${found.size} ${found.mtimeNs}`;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
