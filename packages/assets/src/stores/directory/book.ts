import { type Clock, ToolError } from "@toolhaft/core";
import type { Found } from "./found.ts";
import { type AssetIndex, openIndex } from "./index-file.ts";
import { pauseFor } from "./pause.ts";
import { createReader, type FileRecord, type ReadRecord } from "./record.ts";
import { keyOf } from "./snapshot.ts";

/** What is known of a file, and the numbers of its documents in the index. */
export interface Known {
  record: FileRecord;
  documents: readonly number[];
}

type Taken = [key: string, found: Found, known: Known];

/** Characters of terms that go into the index at once: one large write makes one part of the index, not dozens. */
const batchChars = 16 * 1024 * 1024;

/** The index and what it is known to hold; reads files that it does not know as they are. */
export class Book {
  /** What a caller should hear of the index. */
  readonly notes: string[] = [];
  readonly #path: string;
  readonly #clock: Clock;
  readonly #onRead: (path: string) => void;
  readonly #known = new Map<string, Known>();
  #index: AssetIndex | undefined;
  #dataVersion = -1;

  constructor(path: string, clock: Clock, onRead: (path: string) => void) {
    this.#path = path;
    this.#clock = clock;
    this.#onRead = onRead;
  }

  get index(): AssetIndex | undefined {
    return this.#index;
  }

  othersWrote(): boolean {
    return this.#index !== undefined && this.#index.dataVersion() !== this.#dataVersion;
  }

  /** Opens the index, or takes over what another process wrote since. */
  async sync(): Promise<void> {
    if (!this.#index) await this.#open();
    else if (this.othersWrote()) this.#load(this.#index);
  }

  /** What is known of some files; those that changed are read, and the index then holds them. */
  async take(founds: readonly Found[], signal: AbortSignal | undefined): Promise<Taken[]> {
    const changed: [string, Found][] = [];
    const all = founds.map((found): [string, Found] => [keyOf(found), found]);
    for (const one of all) {
      const known = this.#known.get(one[0]);
      if (!known || known.record.racy || known.record.stamp !== one[1].stamp) changed.push(one);
    }
    if (changed.length > 0) await this.read(changed, { keep: true, signal });
    return all.flatMap(([key, found]): Taken[] => {
      const known = this.#known.get(key);
      return known ? [[key, found, known]] : [];
    });
  }

  /** Reads files whatever their stamps say; with `keep` the index then holds them. */
  async read(
    founds: readonly [key: string, found: Found][],
    { keep, signal }: { keep: boolean; signal: AbortSignal | undefined },
  ): Promise<Taken[]> {
    const read = createReader();
    const pause = pauseFor(signal);
    const pending: { key: string; read: ReadRecord }[] = [];
    const touched: { key: string; record: FileRecord }[] = [];
    const taken: Taken[] = [];
    let chars = 0;
    for (const [key, found] of founds) {
      await pause();
      this.#onRead(found.path);
      const one = read(found, this.#clock.now());
      const known = this.#known.get(key);
      const isSame = known?.record.version === one.record.version && known.documents.length === one.terms.length;
      taken.push([key, found, { record: one.record, documents: isSame ? known.documents : [] }]);
      if (!keep) continue;
      if (isSame) {
        touched.push({ key, record: one.record });
        this.#known.set(key, { record: one.record, documents: known.documents });
        continue;
      }
      pending.push({ key, read: one });
      chars += one.terms.reduce((sum, { body }) => sum + body.length, 0);
      if (chars < batchChars) continue;
      await this.#store(pending.splice(0), signal);
      chars = 0;
    }
    if (pending.length > 0) await this.#store(pending, signal);
    await this.#index?.touch(touched.filter(({ record }) => !record.racy));
    return keep ? taken.map(([key, found, known]): Taken => [key, found, this.#known.get(key) ?? known]) : taken;
  }

  /** Forgets files that are gone. */
  async keepOnly(stays: (key: string) => boolean): Promise<void> {
    const gone = [...this.#known.keys()].filter((key) => !stays(key));
    if (gone.length === 0) return;
    await this.#index?.remove(gone);
    for (const key of gone) this.#known.delete(key);
  }

  close(): void {
    this.#index?.close();
    this.#index = undefined;
  }

  async #store(reads: readonly { key: string; read: ReadRecord }[], signal: AbortSignal | undefined): Promise<void> {
    if (signal?.aborted) throw new ToolError("cancelled", "the call was stopped");
    const index = this.#index ?? (await this.#open());
    const rows = await index.put(reads);
    for (const { key, read } of reads)
      this.#known.set(key, { record: read.record, documents: rows.get(key)?.documents ?? [] });
  }

  async #open(): Promise<AssetIndex> {
    const index = await openIndex(this.#path, (note) => this.notes.push(note));
    this.#index = index;
    this.#load(index);
    return index;
  }

  /** What is stored is about a state of a file; where that is another than the one on disk it is read again. */
  #load(index: AssetIndex): void {
    this.#dataVersion = index.dataVersion();
    this.#known.clear();
    for (const [key, { record, documents }] of index.load()) this.#known.set(key, { record, documents });
  }
}
