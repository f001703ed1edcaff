import { isInside } from "../../paths.ts";
import { type ResolvedRoot, realOrSame } from "./roots.ts";

/** Tells whether anything may have changed since the last look. */
export interface Watcher {
  /** True while nothing happened; false after an event, or when watching failed: then every call looks itself. */
  isQuiet(): boolean;
  /** The disk is being looked at now. */
  noted(): void;
  notes(): readonly string[];
  close(): Promise<void>;
}

/** Milliseconds for which events are gathered before listeners hear of a change. */
const gatherMs = 50;
/**
 * Milliseconds after an event for which nothing counts as quiet: chokidar reads a folder at most once a second, and what
 * changes in between may never become an event.
 */
const settleMs = 1_500;

/** Watches the roots, also those that do not exist yet. Correctness never rests on it. */
export async function watchRoots(
  roots: readonly ResolvedRoot[],
  directory: string,
  onEvent: () => void,
): Promise<Watcher> {
  const { watch } = await import("chokidar");
  const wanted = [
    ...new Set(roots.flatMap((root) => (root.wholeRole ? root.parts.map(({ path }) => path) : [root.path]))),
  ];
  const concerns = (path: string): boolean => wanted.some((root) => isInside(root, path) || isInside(path, root));
  const bases = [...new Set([directory, ...wanted.filter((path) => !isInside(directory, path))].map(realOrSame))];
  const failures: string[] = [];
  let dirty = true;
  let ready = false;
  let changedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let settling: NodeJS.Timeout | undefined;
  const changed = (): void => {
    dirty = true;
    changedAt = performance.now();
    timer ??= setTimeout(() => {
      timer = undefined;
      onEvent();
    }, gatherMs);
    timer.unref();
    // Listeners hear of what was no event, too.
    clearTimeout(settling);
    settling = setTimeout(() => {
      dirty = true;
      onEvent();
    }, settleMs);
    settling.unref();
  };
  const watcher = watch(bases, {
    ignored: (path) => !concerns(path) || /(?:^|[\\/])(?:node_modules|\.git|\.toolhaft)(?:[\\/]|$)/.test(path),
    ignoreInitial: true,
    persistent: false,
    atomic: false,
    depth: 20,
  });
  watcher.on("all", () => {
    if (ready) changed();
  });
  watcher.on("error", (error) => {
    // A limit that is reached fails for every folder: one cause is one note.
    const cause = error instanceof Error && "code" in error ? String(error.code) : String(error);
    const note = `watching failed (${cause}); every call looks at the disk itself`;
    if (!failures.includes(note)) failures.push(note);
  });
  await new Promise<void>((resolve) => {
    watcher.once("ready", () => {
      ready = true;
      resolve();
    });
    watcher.once("error", () => resolve());
  });
  return {
    isQuiet: () => ready && !dirty && failures.length === 0 && performance.now() - changedAt > settleMs,
    noted() {
      dirty = false;
    },
    notes: () => failures,
    async close() {
      clearTimeout(timer);
      clearTimeout(settling);
      await watcher.close();
    },
  };
}
