import { compareLines, type LineChange, mapLine, refineChanges, type TextModel } from "@toolhaft/workspace";

/** A text with its version. */
export interface Snapshot {
  /** All 64 digits. */
  readonly version: string;
  readonly text: TextModel;
}

export interface SnapshotLimits {
  /** Files, the least recently used goes first. */
  readonly files: number;
  /** Versions of a file. */
  readonly versions: number;
  /** Bytes of all texts. */
  readonly bytes: number;
}

interface Edge {
  readonly version: string;
  readonly changes: readonly LineChange[];
}

interface FileHistory {
  /** Least recently used first. */
  readonly texts: Map<string, TextModel>;
  /** What an edit made of a version, and what it was made of. */
  readonly next: Map<string, Edge>;
  readonly previous: Map<string, Edge>;
}

/** Line numbers on the way from one version of a file to another. */
export interface Passage {
  map(line: number): number | undefined;
  /** Lists of changes to apply one after the other. */
  readonly steps: readonly (readonly LineChange[])[];
}

const MOST_EDGES = 256;

/** The last contents of files and the edits between them, in memory. */
export class Snapshots {
  readonly #limits: SnapshotLimits;
  readonly #files = new Map<string, FileHistory>();
  #bytes = 0;

  constructor(limits: SnapshotLimits) {
    this.#limits = limits;
  }

  remember(path: string, { version, text }: Snapshot): void {
    const file = this.#touch(path);
    const known = file.texts.get(version);
    file.texts.delete(version);
    file.texts.set(version, known ?? text);
    if (!known) this.#bytes += text.bytes.length;
    for (const old of file.texts.keys()) {
      if (file.texts.size <= this.#limits.versions) break;
      this.#forget(file, old);
    }
    for (const [other, history] of this.#files) {
      const tooMany = this.#files.size > this.#limits.files;
      if (!tooMany && this.#bytes <= this.#limits.bytes) break;
      for (const old of history.texts.keys()) {
        if (tooMany || this.#bytes > this.#limits.bytes) this.#forget(history, old);
      }
      if (tooMany) this.#files.delete(other);
    }
  }

  /** The text of a version that is given by its first digits. */
  find(path: string, prefix: string): Snapshot | undefined {
    const file = this.#files.get(path);
    for (const [version, text] of file?.texts ?? []) {
      if (!version.startsWith(prefix)) continue;
      this.remember(path, { version, text });
      return { version, text };
    }
    return undefined;
  }

  /** Keeps what an edit did to line numbers, as exactly as both texts allow. */
  link(path: string, before: Snapshot, after: Snapshot, changes: readonly LineChange[]): void {
    this.#addEdge(path, before.version, after.version, refineChanges(before.text, after.text, changes));
  }

  /** The same for an edit of another tool, of which only the changes are known. */
  linkChanges(path: string, before: string, after: string, changes: readonly LineChange[]): void {
    if (this.#files.get(path)?.next.get(before)?.version === after) return;
    if (this.#files.has(path)) this.#addEdge(path, before, after, changes);
  }

  /** A file has a new path; what is known of it stays known. */
  move(from: string, to: string): void {
    const file = this.#files.get(from);
    if (!file) return;
    const old = this.#files.get(to);
    for (const version of old?.texts.keys() ?? []) if (old) this.#forget(old, version);
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  /**
   * The way from a known version to the present text: along the edits made through the workspace, and by comparing where
   * somebody else wrote in between.
   */
  passage(path: string, from: Snapshot, now: Snapshot): Passage {
    const file = this.#touch(path);
    const ahead = walk(file.next, from.version, now.version);
    if (ahead.at(-1)?.version === now.version || from.version === now.version) {
      return passageOf(ahead.map(({ changes }) => changes));
    }
    const behind = walk(file.previous, now.version, from.version);
    const start = lastKnown(file, from, ahead);
    const end = lastKnown(file, now, behind);
    const compared = compareLines(start.text, end.text).changes;
    return passageOf([
      ...ahead.slice(0, start.steps).map(({ changes }) => changes),
      compared,
      ...behind
        .slice(0, end.steps)
        .toReversed()
        .map(({ changes }) => changes),
    ]);
  }

  #touch(path: string): FileHistory {
    const file = this.#files.get(path) ?? { texts: new Map(), next: new Map(), previous: new Map() };
    this.#files.delete(path);
    this.#files.set(path, file);
    return file;
  }

  #forget(file: FileHistory, version: string): void {
    this.#bytes -= file.texts.get(version)?.bytes.length ?? 0;
    file.texts.delete(version);
  }

  #addEdge(path: string, before: string, after: string, changes: readonly LineChange[]): void {
    const { next, previous } = this.#touch(path);
    put(next, before, { version: after, changes });
    put(previous, after, { version: before, changes });
  }
}

function put(edges: Map<string, Edge>, key: string, edge: Edge): void {
  edges.delete(key);
  edges.set(key, edge);
  const [oldest] = edges.keys();
  if (edges.size > MOST_EDGES && oldest !== undefined) edges.delete(oldest);
}

/** Edges from a version on, up to the wanted one or to where nothing is known. */
function walk(edges: ReadonlyMap<string, Edge>, from: string, to: string): readonly Edge[] {
  const steps: Edge[] = [];
  const seen = new Set([from]);
  for (let at = from; at !== to; ) {
    const edge = edges.get(at);
    if (!edge || seen.has(edge.version)) break;
    steps.push(edge);
    seen.add(edge.version);
    at = edge.version;
  }
  return steps;
}

/** The furthest version on the way whose text is known, and how many edges lead there. */
function lastKnown(file: FileHistory, from: Snapshot, steps: readonly Edge[]): { text: TextModel; steps: number } {
  for (let count = steps.length; count > 0; count--) {
    const version = steps[count - 1]?.version;
    const text = version === undefined ? undefined : file.texts.get(version);
    if (text) return { text, steps: count };
  }
  return { text: from.text, steps: 0 };
}

function passageOf(steps: readonly (readonly LineChange[])[]): Passage {
  return {
    steps,
    map(line) {
      let at: number | undefined = line;
      for (const changes of steps) if (at !== undefined) at = mapLine(changes, at);
      return at;
    },
  };
}
