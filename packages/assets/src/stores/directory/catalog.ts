import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Clock, systemClock, ToolError } from "@toolhaft/core";
import type { TextFile } from "@toolhaft/workspace";
import { type Asset, fits } from "../../model.ts";
import { isInside } from "../../paths.ts";
import type {
  AssetCatalog,
  AssetKey,
  AssetQuery,
  ReloadReport,
  ReloadTarget,
  SearchPage,
  SkillFile,
} from "../../store.ts";
import { textFileOf } from "../text-file.ts";
import { Book } from "./book.ts";
import { type Found, listedReference } from "./found.ts";
import { pauseFor } from "./pause.ts";
import { mostFileBytes, readRegular } from "./read-bytes.ts";
import { chosenKeys, compare, ordered } from "./reload-target.ts";
import { insideOf, type ResolvedRoot } from "./roots.ts";
import { searchPage } from "./search-page.ts";
import { listSkillFiles, locateSkillFile } from "./skill-folder.ts";
import {
  buildSnapshot,
  type Entry,
  isSame,
  keyOf,
  listedElsewhere,
  nextSnapshot,
  type Placed,
  type Snapshot,
} from "./snapshot.ts";
import { createFileTexts } from "./texts.ts";
import { walkRoots } from "./walk.ts";
import { type Watcher, watchRoots } from "./watch.ts";

export interface DirectoryOptions {
  /** Absolute; paths are shown relative to it. */
  directory: string;
  roots: readonly ResolvedRoot[];
  /** File of the index. @default `<directory>/.toolhaft/assets.db` */
  indexPath?: string;
  /** Skips the walk while nothing happens. @default false */
  watch?: boolean;
  clock?: Clock;
  /** Told of every defining file that is read; for tests and benches. */
  onRead?(path: string): void;
}

/** Decides whether files outside the directory may be read; gives those that may not. */
export type ReadGate = (paths: readonly string[]) => Promise<ReadonlySet<string>>;

/** The catalog over folders. */
export interface DirectoryCatalog extends AssetCatalog {
  readonly roots: readonly ResolvedRoot[];
  readonly directory: string;
  /** Brings the catalog up to date with the disk. */
  refresh(options?: { signal?: AbortSignal | undefined; gate?: ReadGate }): Promise<void>;
  /** What is known now, without a look at the disk. */
  placed(): readonly Placed[];
  /** Searches what the last look at the disk found. */
  searchNow(query: AssetQuery, signal?: AbortSignal, gate?: ReadGate): Promise<SearchPage>;
  versionNow(): string;
  reload(target: ReloadTarget, signal?: AbortSignal, gate?: ReadGate): Promise<ReloadReport>;
  notesNow(): readonly string[];
  /** Where the defining file of an asset that is known now really lies. */
  realPath(asset: Asset): string | undefined;
  close(): Promise<void>;
}

export function directoryCatalogOf(options: DirectoryOptions): DirectoryCatalog {
  return new FolderCatalog(options);
}

class FolderCatalog implements DirectoryCatalog {
  readonly roots: readonly ResolvedRoot[];
  readonly directory: string;
  readonly #options: DirectoryOptions;
  readonly #indexPath: string;
  readonly #listeners = new Set<(version: string) => void>();
  readonly #book: Book;
  #snapshot: Snapshot | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #watcher: Watcher | undefined;
  #closed = false;
  readonly #texts = createFileTexts();

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.roots = options.roots;
    this.directory = options.directory;
    this.#indexPath = options.indexPath ?? join(options.directory, ".toolhaft", "assets.db");
    this.#book = new Book(this.#indexPath, options.clock ?? systemClock, (path) => options.onRead?.(path));
  }

  async version(signal?: AbortSignal): Promise<string> {
    return (await this.#fresh(signal)).version;
  }

  async list(filter: { type?: Asset["type"]; role?: string }, signal?: AbortSignal) {
    const { placed, notes } = await this.#fresh(signal);
    const assets = placed.map(({ asset }) => asset).filter((asset) => fits(asset, filter.type, filter.role));
    return { assets, notes };
  }

  async get({ type, name, role }: AssetKey, signal?: AbortSignal): Promise<readonly Asset[]> {
    const { placed } = await this.#fresh(signal);
    return placed.map(({ asset }) => asset).filter((asset) => asset.name === name && fits(asset, type, role));
  }

  async read(asset: Asset, file?: string, signal?: AbortSignal): Promise<TextFile> {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    const placed = this.#snapshot?.byId.get(asset.id) ?? (await this.#fresh(signal)).byId.get(asset.id);
    if (!placed) throw new ToolError("not_found", `${asset.id} is gone`, { hint: "search again" });
    const { found } = placed.entry;
    if (found.fault !== undefined) throw new ToolError("unsupported", `${asset.path} cannot be read: ${found.fault}`);
    const path = file === undefined ? found.real : locateSkillFile(dirname(found.real), file, asset.name);
    return this.#readText(path, file ?? asset.path);
  }

  async files(asset: Asset, signal?: AbortSignal): Promise<readonly SkillFile[]> {
    const placed = this.#snapshot?.byId.get(asset.id) ?? (await this.#fresh(signal)).byId.get(asset.id);
    if (!placed) throw new ToolError("not_found", `${asset.id} is gone`, { hint: "search again" });
    return listSkillFiles(dirname(placed.entry.found.real), signal);
  }

  async search(query: AssetQuery, signal?: AbortSignal): Promise<SearchPage> {
    await this.refresh({ signal });
    return this.searchNow(query, signal);
  }

  async searchNow(query: AssetQuery, signal?: AbortSignal, gate?: ReadGate): Promise<SearchPage> {
    // Another process may have replaced rows between the look at the disk and the look into the index.
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0 || !this.#snapshot) await this.refresh({ signal, ...(gate && { gate }) });
      const [snapshot, index] = [this.#snapshot, this.#book.index];
      if (!snapshot || !index) return { hits: [], total: 0, near: [], notes: snapshot?.notes ?? [] };
      if (this.#book.othersWrote() && attempt < 5) continue;
      return searchPage(snapshot, index, query, this.#texts);
    }
  }

  async reload(target: ReloadTarget, signal?: AbortSignal, gate?: ReadGate): Promise<ReloadReport> {
    if (!this.#snapshot) await this.refresh({ signal, ...(gate && { gate }) });
    const before = this.#snapshot ?? (await this.#fresh(signal));
    return this.#inTurn(async () => {
      const walk = await walkRoots(this.roots, pauseFor(signal));
      this.#hidden.clear();
      const refused = await this.#refused(walk.found, gate);
      const founds = new Map(walk.found.filter(({ real }) => !refused.has(real)).map((found) => [keyOf(found), found]));
      const chosen = chosenKeys(before, founds, target);
      const reads = await this.#book.read(
        [...founds].filter(([key]) => chosen.has(key)),
        {
          keep: !target.dryRun,
          signal,
        },
      );
      const entries = new Map([...before.entries].filter(([key]) => !chosen.has(key)));
      for (const [key, found, known] of reads) {
        const documents = target.dryRun ? (before.entries.get(key)?.documents ?? []) : known.documents;
        entries.set(key, { key, found, record: known.record, documents });
      }
      const after = buildSnapshot(ordered(entries, [...founds.keys()]), this.roots, this.directory, walk.notes);
      const report = compare(before, after);
      if (!target.dryRun) {
        await this.#book.keepOnly((key) => !chosen.has(key) || founds.has(key));
        this.#swap(after);
      }
      return { ...report, watching: this.#watcher?.isQuiet() !== undefined };
    });
  }

  onChange(listener: (version: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  placed(): readonly Placed[] {
    return this.#snapshot?.placed ?? [];
  }

  versionNow(): string {
    return this.#snapshot?.version ?? "0".repeat(12);
  }

  realPath({ id }: Asset): string | undefined {
    return this.#snapshot?.byId.get(id)?.entry.found.real;
  }

  notesNow(): readonly string[] {
    return this.#snapshot?.notes ?? [];
  }

  refresh({ signal, gate }: { signal?: AbortSignal | undefined; gate?: ReadGate } = {}): Promise<void> {
    return this.#inTurn(() => this.#refresh(signal, gate));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#turn.catch(() => undefined);
    await this.#watcher?.close();
    this.#book.close();
    this.#listeners.clear();
    this.#texts.clear();
  }

  async #fresh(signal: AbortSignal | undefined): Promise<Snapshot> {
    await this.refresh({ signal });
    if (!this.#snapshot) throw new ToolError("internal", "the catalog has no snapshot after a refresh");
    return this.#snapshot;
  }

  /** One after another: two refreshes at once would read everything twice. */
  #inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#turn.then(work, work);
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  async #refresh(signal: AbortSignal | undefined, gate: ReadGate | undefined): Promise<void> {
    if (this.#closed) throw new ToolError("unavailable", "the family is closed", { hint: "make a new one" });
    if (this.#options.watch && !this.#watcher) this.#watcher = await this.#startWatcher();
    if (this.#snapshot && this.#watcher?.isQuiet() === true && !this.#book.othersWrote() && this.#hidden.size === 0)
      return;
    this.#watcher?.noted();
    const walk = await walkRoots(this.roots, pauseFor(signal));
    if (walk.present > 0 && walk.readable === 0 && walk.found.length === 0) {
      const cause = walk.notes.find((note) => note.startsWith("root ") && note.includes("cannot be read"));
      if (cause !== undefined) throw new ToolError("unavailable", cause, { hint: "make the folder readable" });
    }
    if (walk.found.length > 0 || existsSync(this.#indexPath)) await this.#book.sync();
    const entries = new Map<string, Entry>();
    this.#hidden.clear();
    await this.#take(walk.found, entries, signal, gate);
    const more = listedElsewhere(entries).flatMap(listedReference);
    if (more.length > 0) await this.#take(more, entries, signal, gate);
    await this.#book.keepOnly((key) => entries.has(key) || !this.#isOurs(key));
    const hidden =
      this.#hidden.size > 0
        ? [`${this.#hidden.size} files outside the directory were left out: no permission to read them`]
        : [];
    const none =
      walk.present === 0 && walk.found.length === 0
        ? [`there is no root here; looked for ${this.roots.map(({ label }) => label).join(", ")}`]
        : [];
    const notes = [...none, ...walk.notes, ...this.#book.notes, ...(this.#watcher?.notes() ?? []), ...hidden];
    this.#swap(nextSnapshot(this.#snapshot, entries, this.roots, this.directory, notes));
  }

  /** Files outside the directory that the last gate refused. */
  readonly #hidden = new Set<string>();

  /** Brings the rows of some files up to date, those that may be read. */
  async #take(
    founds: readonly Found[],
    entries: Map<string, Entry>,
    signal: AbortSignal | undefined,
    gate: ReadGate | undefined,
  ): Promise<void> {
    const refused = await this.#refused(founds, gate);
    const allowed = refused.size === 0 ? founds : founds.filter(({ real }) => !refused.has(real));
    const before = this.#snapshot?.entries;
    for (const [key, found, known] of await this.#book.take(allowed, signal)) {
      const old = before?.get(key);
      entries.set(key, old && isSame(old, found, known) ? old : { key, found, ...known });
    }
  }

  /** Everything outside the directory and the roots passes the gate before it is read. */
  async #refused(founds: readonly Found[], gate: ReadGate | undefined): Promise<ReadonlySet<string>> {
    const own = insideOf(this.directory, this.roots);
    const foreign = founds.filter(
      ({ real, fault }) => fault === undefined && !own.some((folder) => isInside(folder, real)),
    );
    if (foreign.length === 0) return this.#hidden;
    const paths = foreign.map(({ real }) => real);
    for (const path of gate ? await gate(paths) : paths) this.#hidden.add(path);
    return this.#hidden;
  }

  /** Rows of other instances with other roots stay. */
  #isOurs(key: string): boolean {
    const path = key.split("\0")[1] ?? "";
    return this.roots.some((root) =>
      root.wholeRole
        ? dirname(path) === root.path || isInside(join(root.path, "functions"), path)
        : isInside(root.path, path),
    );
  }

  #swap(next: Snapshot): void {
    const before = this.#snapshot;
    this.#snapshot = next;
    if (before && before.version === next.version) return;
    if (before) for (const listener of this.#listeners) listener(next.version);
  }

  async #startWatcher(): Promise<Watcher> {
    return watchRoots(this.roots, this.directory, () => {
      if (this.#closed || this.#listeners.size === 0) return;
      this.refresh().catch((error: unknown) => this.#book.notes.push(`a look after a change failed: ${String(error)}`));
    });
  }

  #readText(path: string, shown: string): TextFile {
    const read = readRegular(path);
    if (!read.ok) {
      if (read.tooLarge !== undefined)
        throw new ToolError("too_large", `${shown}: ${read.reason}`, {
          hint: "read it with another tool, in parts",
          details: { bytes: read.tooLarge, limit: mostFileBytes },
        });
      throw new ToolError(/ENOENT/.test(read.reason) ? "not_found" : "unsupported", `${shown}: ${read.reason}`, {
        hint: "check the path",
      });
    }
    return textFileOf(path, read.bytes, Number(read.stat.mode) & 0o7777);
  }
}
