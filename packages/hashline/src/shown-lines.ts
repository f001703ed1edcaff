import type { LineChange } from "@toolhaft/workspace";
import { addRange, missingFrom, type Ranges, shiftRanges } from "./ranges.ts";

interface SessionMarks {
  /** Lines shown, per version; the version marked last is last. */
  readonly versions: Map<string, Ranges>;
  /** The version this session was shown last. */
  last: string | undefined;
}

const MOST_SESSIONS = 64;

/** Which lines of which version each session has been shown. */
export class ShownLines {
  readonly #files = new Map<string, Map<string, SessionMarks>>();
  readonly #limits: { readonly files: number; readonly versions: number };

  constructor(limits: { readonly files: number; readonly versions: number }) {
    this.#limits = limits;
  }

  /** Lines that a reply shows whole. */
  show(path: string, session: string, version: string, lines: Ranges): void {
    const marks = this.#marks(path, session);
    marks.last = version;
    this.#set(marks, version, lines);
  }

  /** Lines of `from`..`to` that a session has not been shown; none when it was shown nothing of that version. */
  unseen(path: string, session: string, version: string, from: number, to: number): Ranges {
    const ranges = this.#files.get(path)?.get(session)?.versions.get(version);
    return ranges ? missingFrom(ranges, from, to) : [];
  }

  /** The version of a file that a session was shown last. */
  lastShown(path: string, session: string): string | undefined {
    return this.#files.get(path)?.get(session)?.last;
  }

  /** Marks follow their lines from one version to another, for every session. */
  carry(path: string, before: string, after: string, steps: readonly (readonly LineChange[])[]): void {
    if (before === after) return;
    for (const marks of this.#files.get(path)?.values() ?? []) {
      const ranges = marks.versions.get(before);
      if (ranges) this.#set(marks, after, steps.reduce(shiftRanges, ranges));
    }
  }

  move(from: string, to: string): void {
    const file = this.#files.get(from);
    if (!file) return;
    this.#files.delete(from);
    this.#files.set(to, file);
  }

  #set(marks: SessionMarks, version: string, lines: Ranges): void {
    const known = marks.versions.get(version) ?? [];
    marks.versions.delete(version);
    marks.versions.set(
      version,
      lines.reduce((all, [from, to]) => addRange(all, from, to), known),
    );
    trim(marks.versions, this.#limits.versions);
  }

  #marks(path: string, session: string): SessionMarks {
    const file = this.#files.get(path) ?? new Map<string, SessionMarks>();
    this.#files.delete(path);
    this.#files.set(path, file);
    trim(this.#files, this.#limits.files);
    const marks = file.get(session) ?? { versions: new Map(), last: undefined };
    file.delete(session);
    file.set(session, marks);
    trim(file, MOST_SESSIONS);
    return marks;
  }
}

function trim(map: Map<string, unknown>, most: number): void {
  for (const key of map.keys()) {
    if (map.size <= most) break;
    map.delete(key);
  }
}
