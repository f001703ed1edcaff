import type { Diagnostic } from "vscode-languageserver-protocol";
import { uriKey } from "./uris.ts";

/** The last `textDocument/publishDiagnostics` of a document. */
export interface Publish {
  version: number | undefined;
  diagnostics: Diagnostic[];
  /** By `performance.now()`. */
  at: number;
  /** The how-manieth since the document last changed. */
  count: number;
}

export interface Published {
  get(path: string): Publish | undefined;
  handle(params: unknown): void;
  /** What was published before a change is of no use after it. */
  forget(path: string): void;
  onPublish(listener: () => void): () => void;
}

/** Keeps what a server publishes, under one key however it spells the URI. */
export function createPublished(realPath: (path: string) => string): Published {
  const byPath = new Map<string, Publish>();
  const listeners = new Set<() => void>();
  return {
    get: (path) => byPath.get(path),
    handle(params) {
      if (typeof params !== "object" || params === null) return;
      const { uri, version, diagnostics } = params as Record<string, unknown>;
      if (typeof uri !== "string") return;
      const key = realPath(uriKey(uri));
      byPath.set(key, {
        version: typeof version === "number" ? version : undefined,
        diagnostics: Array.isArray(diagnostics) ? (diagnostics as Diagnostic[]) : [],
        at: performance.now(),
        count: (byPath.get(key)?.count ?? 0) + 1,
      });
      for (const listener of [...listeners]) listener();
    },
    forget: (path) => void byPath.delete(path),
    onPublish(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}
