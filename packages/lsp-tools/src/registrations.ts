import picomatch from "picomatch";
import { uriToPath } from "./uris.ts";

/** One dynamic registration of a server. */
export interface Registration {
  id: string;
  method: string;
  options: Record<string, unknown>;
}

export interface RegisteredDocument {
  uri: string;
  languageId: string;
}

export type WatchKind = "created" | "changed" | "deleted";

interface FileWatcher {
  matches(path: string): boolean;
  /** The folder that the pattern starts at, when it names one. */
  base: string | undefined;
  pattern: string;
  kind: number;
}

const watchBits: Record<WatchKind, number> = { created: 1, changed: 2, deleted: 4 };

/** What a server has registered after its start, tracked by id. */
export interface Registrations {
  add(list: readonly Registration[]): void;
  remove(list: readonly { id: string }[]): void;
  /** Whether a registration of this method covers the document (or exists at all when none is given). */
  has(method: string, document?: RegisteredDocument): boolean;
  /** The options of every registration that covers the document. */
  options(method: string, document: RegisteredDocument): Record<string, unknown>[];
  watches(path: string, kind: WatchKind): boolean;
  /** Folders that watch patterns name outright. */
  watchedFolders(): string[];
  readonly watchesFiles: boolean;
  /** Whether anything that is asked of documents has been registered. */
  readonly servesDocuments: boolean;
  /** When the last one arrived, by `performance.now()`. */
  readonly changedAt: number;
}

export function createRegistrations(root: string): Registrations {
  const byId = new Map<string, Registration>();
  let watchers: FileWatcher[] = [];
  let changedAt = 0;
  const refresh = () => {
    changedAt = performance.now();
    watchers = [...byId.values()]
      .filter((one) => one.method === "workspace/didChangeWatchedFiles")
      .flatMap((one) => (Array.isArray(one.options.watchers) ? one.options.watchers : []))
      .map((watcher) => fileWatcher(watcher, root))
      .filter((watcher) => watcher !== undefined);
  };
  const covering = (method: string, document: RegisteredDocument) =>
    [...byId.values()].filter((one) => one.method === method && selects(one.options.documentSelector, document, root));
  return {
    add(list) {
      for (const one of list) byId.set(one.id, one);
      refresh();
    },
    remove(list) {
      for (const one of list) byId.delete(one.id);
      refresh();
    },
    has(method, document) {
      if (document) return covering(method, document).length > 0;
      for (const one of byId.values()) if (one.method === method) return true;
      return false;
    },
    options: (method, document) => covering(method, document).map((one) => one.options),
    watches: (path, kind) => watchers.some((one) => (one.kind & watchBits[kind]) !== 0 && one.matches(path)),
    watchedFolders: () => [...new Set(watchers.flatMap((one) => (one.base === undefined ? [] : [one.base])))],
    get watchesFiles() {
      return watchers.length > 0;
    },
    get servesDocuments() {
      return [...byId.values()].some((one) => one.method.startsWith("textDocument/") && !one.method.includes("/did"));
    },
    get changedAt() {
      return changedAt;
    },
  };
}

/** Whether a document selector covers a document; no selector covers all. */
export function selects(selector: unknown, document: RegisteredDocument, root: string): boolean {
  if (!Array.isArray(selector)) return true;
  return selector.some((filter: unknown) => {
    if (typeof filter === "string") return filter === "*" || filter === document.languageId;
    if (typeof filter !== "object" || filter === null) return false;
    const { language, scheme, pattern, notebook } = filter as Record<string, unknown>;
    if (notebook !== undefined) return false;
    if (typeof language === "string" && language !== "*" && language !== document.languageId) return false;
    if (typeof scheme === "string" && !document.uri.startsWith(`${scheme}:`)) return false;
    const path = uriToPath(document.uri);
    if (pattern === undefined || pattern === null) return true;
    return path !== undefined && (globMatcher(pattern, root)?.matches(path) ?? false);
  });
}

function fileWatcher(watcher: unknown, root: string): FileWatcher | undefined {
  if (typeof watcher !== "object" || watcher === null) return undefined;
  const { globPattern, kind } = watcher as Record<string, unknown>;
  const matcher = globMatcher(globPattern, root);
  return matcher && { ...matcher, kind: typeof kind === "number" ? kind : 7 };
}

/** An LSP glob: plain ones apply to whole paths and to paths below the root, relative ones below their base. */
function globMatcher(glob: unknown, root: string): Omit<FileWatcher, "kind"> | undefined {
  const options = { dot: true, nobrace: false, noextglob: true };
  if (typeof glob === "string") {
    const absolute = glob.startsWith("/") || /^[a-z]:/i.test(glob);
    const isMatch = picomatch(glob, options);
    const literal = absolute ? glob.slice(0, glob.search(/[*?{[]|$/)).replace(/[^/]*$/, "") : undefined;
    const prefix = `${root}/`;
    return {
      pattern: glob,
      base: literal?.replace(/\/$/, ""),
      matches: (path) => isMatch(path) || (!absolute && path.startsWith(prefix) && isMatch(path.slice(prefix.length))),
    };
  }
  if (typeof glob !== "object" || glob === null) return undefined;
  const { baseUri, pattern } = glob as { baseUri?: unknown; pattern?: unknown };
  const uri = typeof baseUri === "string" ? baseUri : (baseUri as { uri?: unknown } | undefined)?.uri;
  const base = typeof uri === "string" ? uriToPath(uri)?.replace(/\/$/, "") : undefined;
  if (base === undefined || typeof pattern !== "string") return undefined;
  const isMatch = picomatch(pattern, options);
  return {
    pattern,
    base,
    matches: (path) => path.startsWith(`${base}/`) && isMatch(path.slice(base.length + 1)),
  };
}
