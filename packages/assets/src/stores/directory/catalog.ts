import { existsSync, lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, nearest, systemClock, ToolError } from "@toolhaft/core";
import { analyse, excerpt, foldText } from "@toolhaft/text";
import type { TextFile } from "@toolhaft/workspace";
import { decodeCursor, encodeCursor } from "../../cursor.ts";
import { type Asset, compareText, inScope, isBelow } from "../../model.ts";
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
import { queryTerms } from "../../terms.ts";
import { textFileOf } from "../text-file.ts";
import { type AssetIndex, openIndex } from "./index-file.ts";
import { mostFileBytes, readRegular } from "./read-bytes.ts";
import { type FileRecord, type ReadRecord, readRecord } from "./record.ts";
import { type ResolvedRoot, realOrSame } from "./roots.ts";
import { listSkillFiles, locateSkillFile } from "./skill-folder.ts";
import { buildSnapshot, type Entry, keyOf, listedElsewhere, type Placed, type Snapshot } from "./snapshot.ts";
import { stampOf } from "./stamp.ts";
import { type Found, walkRoots } from "./walk.ts";
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
  close(): Promise<void>;
}

export function directoryCatalogOf(options: DirectoryOptions): DirectoryCatalog {
  return new FolderCatalog(options);
}

interface Known {
  record: FileRecord;
  documents: readonly number[];
}

const batch = 200;

class FolderCatalog implements DirectoryCatalog {
  readonly roots: readonly ResolvedRoot[];
  readonly directory: string;
  readonly #options: DirectoryOptions;
  readonly #clock: Clock;
  readonly #indexPath: string;
  readonly #listeners = new Set<(version: string) => void>();
  /** What the index holds, by key. */
  readonly #known = new Map<string, Known>();
  #indexNotes: string[] = [];
  #index: AssetIndex | undefined;
  #dataVersion = -1;
  #snapshot: Snapshot | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #watcher: Watcher | undefined;
  #closed = false;

  constructor(options: DirectoryOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.roots = options.roots;
    this.directory = options.directory;
    this.#indexPath = options.indexPath ?? join(options.directory, ".toolhaft", "assets.db");
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
      const [snapshot, index] = [this.#snapshot, this.#index];
      if (!snapshot || !index) return { hits: [], total: 0, near: [], notes: snapshot?.notes ?? [] };
      if (index.dataVersion() !== this.#dataVersion && attempt < 5) continue;
      return this.#searchIn(snapshot, index, query);
    }
  }

  #searchIn(snapshot: Snapshot, index: AssetIndex, query: AssetQuery): SearchPage {
    const question = [query.text, query.type ?? "all", query.role ?? null];
    const offset = decodeCursor(snapshot.version, question, query.cursor);
    const terms = queryTerms(query.text);
    const accepted = (found: { document: number; score: number }[]) =>
      found.flatMap(({ document, score }) => {
        const placed = snapshot.byDocument.get(document);
        if (!placed || placed.asset.shadowedBy !== undefined) return [];
        if (!fits(placed.asset, query.type, query.role) || query.accept?.(placed.asset) === false) return [];
        return [{ placed, score }];
      });
    const exact = foldText(query.text);
    const ranked = accepted(index.search(terms, "all")).map((hit) => ({
      ...hit,
      exact: foldText(hit.placed.asset.name) === exact,
    }));
    ranked.sort(
      (a, b) => Number(b.exact) - Number(a.exact) || b.score - a.score || compareAssets(a.placed.asset, b.placed.asset),
    );
    const page = ranked.slice(offset, offset + query.limit);
    const fields = index.matched(
      terms,
      page.map(({ placed }) => placed.document),
    );
    const words = analyse(query.text);
    const near = ranked.length > 0 ? [] : accepted(index.search(terms, "any"));
    near.sort((a, b) => b.score - a.score || compareAssets(a.placed.asset, b.placed.asset));
    const end = offset + query.limit;
    return {
      hits: page.map(({ placed, score }) => {
        const matched = fields.get(placed.document) ?? [];
        const snippet = matched.includes("body") ? this.#snippet(placed, words) : undefined;
        return {
          asset: placed.asset,
          score: Math.round(score * 1e4) / 1e4,
          matched,
          ...(snippet !== undefined && { snippet }),
        };
      }),
      total: ranked.length,
      near: near.slice(0, 5).map(({ placed }) => placed.asset),
      ...(end < ranked.length && { nextCursor: encodeCursor(snapshot.version, question, end) }),
      notes: snapshot.notes,
    };
  }

  #snippet({ entry, facts }: Placed, words: readonly string[]): string | undefined {
    const read = readRegular(entry.found.real);
    if (!read.ok || facts.fragment !== "") return undefined;
    const text = read.bytes
      .subarray(0, 256 * 1024)
      .toString("utf8")
      .replace(/^\ufeff?---\r?\n[\s\S]*?\n---[ \t]*(?:\r?\n|$)/, "");
    const near = stretchAround(text, words);
    const { text: part, start } = excerpt(near.text, words, 160);
    const shown = part.replace(/\s+/g, " ").trim();
    if (shown === "") return undefined;
    const ends = near.end < text.length || start + [...part].length < [...near.text].length;
    return `${near.start > 0 || start > 0 ? "…" : ""}${shown}${ends ? "…" : ""}`;
  }

  async reload(target: ReloadTarget, signal?: AbortSignal, gate?: ReadGate): Promise<ReloadReport> {
    if (!this.#snapshot) await this.refresh({ signal, ...(gate && { gate }) });
    const before = this.#snapshot ?? (await this.#fresh(signal));
    return this.#inTurn(async () => {
      const walk = await walkRoots(this.roots, pauseFor(signal));
      const refused = await this.#refused(walk.found, gate);
      const founds = new Map(walk.found.filter(({ real }) => !refused.has(real)).map((found) => [keyOf(found), found]));
      const chosen = this.#chosen(before, founds, target);
      const entries = new Map<string, Entry>();
      const reads: { key: string; found: Found; read: ReadRecord }[] = [];
      for (const [key, found] of founds) {
        if (chosen.has(key)) reads.push({ key, found, read: this.#read(found) });
      }
      const kept = target.dryRun ? new Map<string, Known>() : await this.#store(reads, signal);
      for (const key of new Set([...founds.keys(), ...before.entries.keys()])) {
        const old = before.entries.get(key);
        const read = reads.find((one) => one.key === key);
        if (!chosen.has(key)) {
          if (old) entries.set(key, old);
        } else if (read) {
          entries.set(key, {
            key,
            found: read.found,
            record: read.read.record,
            documents: kept.get(key)?.documents ?? old?.documents ?? [],
          });
        }
      }
      const after = buildSnapshot(ordered(entries, [...founds.keys()]), this.roots, this.directory, walk.notes);
      const report = compare(before, after);
      if (!target.dryRun) {
        await this.#forget([...chosen].filter((key) => !founds.has(key)));
        this.#swap(after);
      }
      return { ...report, watching: this.#watcher?.isQuiet() !== undefined };
    });
  }

  /** Keys of the files that a reload is about. */
  #chosen(before: Snapshot, founds: ReadonlyMap<string, Found>, { type, name }: ReloadTarget): Set<string> {
    const all = new Set([...before.entries.keys(), ...founds.keys()]);
    if (type === "role" && name === undefined) return all;
    const foundOf = (key: string): Found | undefined => founds.get(key) ?? before.entries.get(key)?.found;
    const keys = [...all];
    if (name === undefined)
      return new Set(keys.filter((key) => foundOf(key)?.type === type || holds(before, key, type)));
    const wanted = name.normalize("NFC").replaceAll(type === "role" ? "--" : "\0", "/");
    const named = before.placed.filter(
      ({ asset }) => asset.type === type && (asset.id === name || asset.name.normalize("NFC") === wanted),
    );
    const chosen = new Set(named.map(({ entry }) => entry.key));
    for (const [key, found] of founds)
      if (found.type === type && found.name.normalize("NFC") === wanted) chosen.add(key);
    if (type === "role") {
      const id = named[0]?.asset.name ?? wanted;
      for (const { asset, entry } of before.placed) if (inScope(asset, id)) chosen.add(entry.key);
      for (const [key, found] of founds)
        if (isBelow(id, found.type === "role" ? found.name : found.role)) chosen.add(key);
    }
    if (chosen.size > 0) return chosen;
    const names = before.placed.filter(({ asset }) => asset.type === type).map(({ asset }) => asset.name);
    const near = nearest(name, names, 5);
    throw new ToolError("not_found", `there is no ${type} ${name}`, {
      hint: near.length > 0 ? `did you mean ${near.join(", ")}?` : "asset_search lists what there is",
      details: { near },
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
    this.#index?.close();
    this.#index = undefined;
    this.#listeners.clear();
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
    if (this.#snapshot && this.#watcher?.isQuiet() === true && !this.#othersWrote() && this.#hidden.size === 0) return;
    this.#watcher?.noted();
    const walk = await walkRoots(this.roots, pauseFor(signal));
    if (walk.present > 0 && walk.readable === 0 && walk.found.length === 0) {
      const cause = walk.notes.find((note) => note.startsWith("root ") && note.includes("cannot be read"));
      if (cause !== undefined) throw new ToolError("unavailable", cause, { hint: "make the folder readable" });
    }
    if (!this.#index && (walk.found.length > 0 || existsSync(this.#indexPath))) await this.#openIndex();
    if (this.#index) this.#syncWithOthers(this.#index);
    const entries = new Map<string, Entry>();
    await this.#take(walk.found, entries, signal, gate);
    const more = listedElsewhere(entries).flatMap((one) => foundAt(one));
    if (more.length > 0) await this.#take(more, entries, signal, gate);
    const gone = [...this.#known.keys()].filter((key) => !entries.has(key) && this.#isOurs(key));
    await this.#forget(gone);
    const hidden =
      this.#hidden.size > 0
        ? [`${this.#hidden.size} files outside the directory were left out: no permission to read them`]
        : [];
    const none =
      walk.present === 0 && walk.found.length === 0
        ? [`there is no root here; looked for ${this.roots.map(({ label }) => label).join(", ")}`]
        : [];
    const notes = [...none, ...walk.notes, ...this.#indexNotes, ...(this.#watcher?.notes() ?? []), ...hidden];
    this.#swap(buildSnapshot(entries, this.roots, this.directory, notes));
  }

  /** Files outside the directory that the last gate refused. */
  readonly #hidden = new Set<string>();

  async #take(
    founds: readonly Found[],
    entries: Map<string, Entry>,
    signal: AbortSignal | undefined,
    gate: ReadGate | undefined,
  ): Promise<void> {
    const refused = await this.#refused(founds, gate);
    const pending: { key: string; found: Found; read: ReadRecord }[] = [];
    const touched: { key: string; record: FileRecord }[] = [];
    const place = (key: string, found: Found, known: Known): void => {
      entries.set(key, { key, found, ...known });
    };
    const pause = pauseFor(signal);
    const order: [key: string, found: Found][] = [];
    for (const found of founds) {
      if (refused.has(found.real)) continue;
      const key = keyOf(found);
      order.push([key, found]);
      const known = this.#known.get(key);
      if (known && known.record.stamp === found.stamp && !known.record.racy) continue;
      await pause();
      const read = this.#read(found);
      if (known && known.record.version === read.record.version && known.documents.length === read.terms.length) {
        touched.push({ key, record: read.record });
        this.#known.set(key, { record: read.record, documents: known.documents });
        continue;
      }
      pending.push({ key, found, read });
      if (pending.length >= batch) await this.#store(pending.splice(0), signal);
    }
    if (pending.length > 0) await this.#store(pending, signal);
    const settled = touched.filter(({ record }) => !record.racy);
    await this.#index?.touch(settled);
    for (const [key, found] of order) {
      const known = this.#known.get(key);
      if (known) place(key, found, known);
    }
  }

  /** Everything outside the directory and the roots passes the gate before it is read. */
  async #refused(founds: readonly Found[], gate: ReadGate | undefined): Promise<ReadonlySet<string>> {
    const inside = [realOrSame(this.directory), ...this.roots.map(({ path }) => realOrSame(path))];
    const foreign = founds.filter(
      ({ real, fault }) => fault === undefined && !inside.some((folder) => isInside(folder, real)),
    );
    this.#hidden.clear();
    if (foreign.length === 0) return this.#hidden;
    const paths = foreign.map(({ real }) => real);
    for (const path of gate ? await gate(paths) : paths) this.#hidden.add(path);
    return this.#hidden;
  }

  #read(found: Found): ReadRecord {
    this.#options.onRead?.(found.path);
    return readRecord(found, this.#clock.now());
  }

  async #store(
    reads: readonly { key: string; read: ReadRecord }[],
    signal: AbortSignal | undefined,
  ): Promise<Map<string, Known>> {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    if (!this.#index) await this.#openIndex();
    const rows = await this.#index?.put(reads);
    const kept = new Map<string, Known>();
    for (const { key, read } of reads) {
      const known = { record: read.record, documents: rows?.get(key)?.documents ?? [] };
      this.#known.set(key, known);
      kept.set(key, known);
    }
    return kept;
  }

  async #forget(keys: readonly string[]): Promise<void> {
    if (keys.length === 0) return;
    await this.#index?.remove(keys);
    for (const key of keys) this.#known.delete(key);
  }

  async #openIndex(): Promise<void> {
    this.#index = await openIndex(this.#indexPath, (note) => this.#indexNotes.push(note));
    this.#dataVersion = this.#index.dataVersion();
    for (const [key, { record, documents }] of this.#index.load()) this.#known.set(key, { record, documents });
  }

  #othersWrote(): boolean {
    return this.#index !== undefined && this.#index.dataVersion() !== this.#dataVersion;
  }

  /** What another process wrote is taken over where it is about the state that is known here, else read again. */
  #syncWithOthers(index: AssetIndex): void {
    const version = index.dataVersion();
    if (version === this.#dataVersion) return;
    this.#dataVersion = version;
    const stored = index.load();
    for (const key of this.#known.keys()) if (!stored.has(key)) this.#known.delete(key);
    for (const [key, { record, documents }] of stored) this.#known.set(key, { record, documents });
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
      this.refresh().catch((error: unknown) => this.#indexNotes.push(`a look after a change failed: ${String(error)}`));
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

/** Characters around the first word that are looked at closely. */
const stretch = 240;

/** The part of a long text around the first of some words: analysing all of it for one line would be dear. */
function stretchAround(text: string, words: readonly string[]): { text: string; start: number; end: number } {
  const lower = text.toLowerCase();
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  if (text.length <= 2 * stretch || lower.length !== text.length || places.length === 0)
    return { text, start: 0, end: text.length };
  const whole = (at: number): number => (/[\udc00-\udfff]/.test(text[at] ?? "") ? at - 1 : at);
  const first = Math.min(...places);
  const start = whole(Math.max(0, first - stretch));
  const end = whole(Math.min(text.length, first + stretch));
  return { text: text.slice(start, end), start, end };
}

function fits(asset: Asset, type: Asset["type"] | undefined, role: string | undefined): boolean {
  return (type === undefined || asset.type === type) && (role === undefined || inScope(asset, role));
}

function compareAssets(a: Asset, b: Asset): number {
  return compareText(a.name, b.name) || compareText(a.path, b.path);
}

/** Gives other work a turn now and then, and ends when the call is stopped. */
function pauseFor(signal: AbortSignal | undefined): () => Promise<void> {
  let last = performance.now();
  return async () => {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    if (performance.now() - last < 10) return;
    await new Promise((resolve) => setImmediate(resolve));
    last = performance.now();
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
  };
}

function foundAt({ path, name, role, root }: { path: string; name: string; role: string; root: number }): Found[] {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (!stat) return [];
  const fault = stat.isFile() ? undefined : "it is not a regular file";
  return [
    {
      type: "reference",
      path,
      real: path,
      root,
      role,
      name: name === "" ? basename(path) : name,
      stamp: fault === undefined ? stampOf(stat) : `fault:${stampOf(stat)}`,
      bytes: Number(stat.size),
      modifiedAt: Math.floor(Number(stat.mtimeNs) / 1e6),
      aliases: [],
      ...(fault !== undefined && { fault }),
    },
  ];
}

function holds(snapshot: Snapshot, key: string, type: Asset["type"]): boolean {
  return snapshot.entries.get(key)?.record.facts.some((facts) => facts.type === type) ?? false;
}

/** In the order of the walk, so that the first root's copy comes first. */
function ordered(entries: ReadonlyMap<string, Entry>, order: readonly string[]): Map<string, Entry> {
  const sorted = new Map<string, Entry>();
  for (const key of [...order, ...entries.keys()]) {
    const entry = entries.get(key);
    if (entry) sorted.set(key, entry);
  }
  return sorted;
}

function compare(before: Snapshot, after: Snapshot): Omit<ReloadReport, "watching"> {
  const added = after.placed.filter(({ asset }) => !before.byId.has(asset.id)).map(({ asset }) => asset);
  const removed = before.placed.filter(({ asset }) => !after.byId.has(asset.id)).map(({ asset }) => asset);
  const changed = after.placed
    .filter(({ asset }) => {
      const old = before.byId.get(asset.id)?.asset;
      return old !== undefined && old.version !== asset.version;
    })
    .map(({ asset }) => asset);
  const unchanged = after.placed.length - added.length - changed.length;
  return { before: before.version, after: after.version, added, changed, removed, unchanged, issues: [] };
}
