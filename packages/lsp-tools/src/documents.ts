import type { Pos, Range } from "./answer.ts";
import { sourceText } from "./positions.ts";
import { pathToUri, uriKey } from "./uris.ts";

/** A document as one server knows it. */
export interface OpenDocument {
  /** Real path. */
  path: string;
  uri: string;
  languageId: string;
  version: number;
  text: string;
  /** By `performance.now()`: when we last sent its text. */
  sentAt: number;
  lastUsed: number;
  /** Opened or changed since the server last answered for it. */
  unsettled: boolean;
}

/** How a server wants to be told of documents. */
export interface SyncWishes {
  /** 0 none, 1 full, 2 incremental. */
  change: number;
  save: boolean;
  saveText: boolean;
}

export interface Documents {
  readonly size: number;
  get(path: string): OpenDocument | undefined;
  byUri(uri: string): OpenDocument | undefined;
  list(): OpenDocument[];
  /** Opens the document or sends what changed; the answer tells whether anything was sent. */
  sync(path: string, languageId: string, text: string): { document: OpenDocument; sent: boolean };
  close(path: string): void;
}

/** The documents of one server; `limit` open ones, the least recently used goes first. */
export function createDocuments(options: {
  notify(method: string, params: unknown): void;
  wishes(): SyncWishes;
  limit: number;
  /** The documents that may not be closed now. */
  inUse(path: string): boolean;
}): Documents {
  const open = new Map<string, OpenDocument>();
  const lastVersions = new Map<string, number>();

  const close = (document: OpenDocument) => {
    open.delete(document.path);
    lastVersions.set(document.path, document.version);
    options.notify("textDocument/didClose", { textDocument: { uri: document.uri } });
  };
  const makeRoom = () => {
    const spare = open.size - options.limit;
    if (spare <= 0) return;
    const oldest = [...open.values()].filter((one) => !options.inUse(one.path)).sort((a, b) => a.lastUsed - b.lastUsed);
    for (const document of oldest.slice(0, spare)) close(document);
  };
  const announce = (document: OpenDocument) => {
    options.notify("textDocument/didOpen", {
      textDocument: {
        uri: document.uri,
        languageId: document.languageId,
        version: document.version,
        text: document.text,
      },
    });
  };

  return {
    get size() {
      return open.size;
    },
    get: (path) => open.get(path),
    byUri(uri) {
      const key = uriKey(uri);
      return open.get(key);
    },
    list: () => [...open.values()],
    sync(path, languageId, text) {
      const now = performance.now();
      const known = open.get(path);
      if (known && known.languageId !== languageId) close(known);
      else if (known) {
        known.lastUsed = now;
        if (known.text === text) return { document: known, sent: false };
        const wishes = options.wishes();
        const before = known.text;
        known.version++;
        known.text = text;
        known.sentAt = now;
        known.unsettled = true;
        if (wishes.change === 0) {
          options.notify("textDocument/didClose", { textDocument: { uri: known.uri } });
          announce(known);
        } else {
          const contentChanges = wishes.change === 2 ? [smallestChange(before, text)] : [{ text }];
          options.notify("textDocument/didChange", {
            textDocument: { uri: known.uri, version: known.version },
            contentChanges,
          });
        }
        if (wishes.save) {
          options.notify("textDocument/didSave", {
            textDocument: { uri: known.uri },
            ...(wishes.saveText && { text }),
          });
        }
        return { document: known, sent: true };
      }
      const document: OpenDocument = {
        path,
        uri: pathToUri(path),
        languageId,
        version: (lastVersions.get(path) ?? 0) + 1,
        text,
        sentAt: now,
        lastUsed: now,
        unsettled: true,
      };
      open.set(path, document);
      announce(document);
      makeRoom();
      return { document, sent: true };
    },
    close(path) {
      const document = open.get(path);
      if (document) close(document);
    },
  };
}

/** One change between the common beginning and the common end; it never cuts a surrogate pair or a CRLF. */
export function smallestChange(before: string, after: string): { range: Range; text: string } {
  const shorter = Math.min(before.length, after.length);
  let start = 0;
  while (start < shorter && before.charCodeAt(start) === after.charCodeAt(start)) start++;
  let tail = 0;
  while (
    tail < shorter - start &&
    before.charCodeAt(before.length - 1 - tail) === after.charCodeAt(after.length - 1 - tail)
  ) {
    tail++;
  }
  while (start > 0 && (cuts(before, start) || cuts(after, start))) start--;
  while (tail > 0 && (cuts(before, before.length - tail) || cuts(after, after.length - tail))) tail--;
  const end = before.length - tail;
  const source = sourceText(before);
  const range: { start: Pos; end: Pos } = { start: source.positionAt(start), end: source.positionAt(end) };
  return { range, text: after.slice(start, after.length - tail) };
}

/** Whether a cut at this offset would part what belongs together. */
function cuts(text: string, at: number): boolean {
  if (at <= 0 || at >= text.length) return false;
  const left = text.charCodeAt(at - 1);
  const right = text.charCodeAt(at);
  return (left === 0x0d && right === 0x0a) || ((left & 0xfc00) === 0xd800 && (right & 0xfc00) === 0xdc00);
}
