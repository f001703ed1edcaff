import { resolve } from "node:path";
import type { FileChange, ToolContext } from "@toolhaft/core";
import type { FileDiagnostic, Severity } from "./answer.ts";
import { severities } from "./answer.ts";
import { askAll, type Call } from "./ask.ts";
import { collectRaw, describeDiagnostic } from "./diagnostics/collect.ts";
import { features } from "./features.ts";
import type { LspTools } from "./lsp-tools.ts";
import { beginCall, type OpenFile, openFile } from "./open-file.ts";
import { pathOfUri } from "./places.ts";
import { reversePatch } from "./reverse-patch.ts";
import { openOrChange } from "./sync.ts";
import { isInside } from "./uris.ts";

export interface AfterCommitOptions {
  /** Lowest level that is told. @default "error" */
  severity?: Severity;
  /** Milliseconds spent at most on one commit. @default 10_000 */
  waitMs?: number;
}

/** Files looked at for one commit: those that changed, then open ones that may use them. */
const maxFiles = 20;

/**
 * What an edit broke, and nothing else: for the hook that runs after a commit. The servers are asked about the texts as
 * they were before and as they are now; only what is new is told.
 */
export function diagnosticsAfterCommit(
  lsp: LspTools,
  options: AfterCommitOptions = {},
): (changes: readonly FileChange[], context: ToolContext) => Promise<readonly string[]> {
  const lowest = severities.indexOf(options.severity ?? "error");
  return async (changes, context) => {
    const call = beginCall(lsp.pool.engine, context);
    call.deadline = performance.now() + (options.waitMs ?? 10_000);
    const changed = await changedFiles(call, changes);
    if (changed.size === 0) return [];
    const others = await openUsers(
      call,
      new Set([...changed.keys()].map((file) => file.text.path)),
      maxFiles - changed.size,
    );
    const lines: string[] = [];
    for (const file of [...changed.keys(), ...others]) {
      const before = await diagnosticsWith(call, file, changed);
      const after = await diagnosticsWith(call, file, new Map());
      for (const one of fresh(before, after)) {
        if (severities.indexOf(one.severity) > lowest) continue;
        const { line, character } = one.range.start;
        lines.push(
          `${file.shown} ${line}:${character} ${one.severity}${one.code ? ` ${one.code}` : ""} ${one.message} · ${one.server}`,
        );
      }
    }
    return lines;
  };
}

/** The files of a commit with the texts they had before it. */
async function changedFiles(call: Call, changes: readonly FileChange[]): Promise<Map<OpenFile, string>> {
  const files = new Map<OpenFile, string>();
  for (const change of changes.slice(0, maxFiles)) {
    if (change.after === null) continue;
    const file = await openFile(call, resolve(call.scope.directory, change.path)).catch(() => undefined);
    if (!file || file.served.serving.length === 0) continue;
    const { text } = file.text.source;
    const before = change.before === null ? "" : change.diffTruncated ? undefined : reversePatch(text, change.diff);
    // without the old text nothing can be called new
    if (before !== undefined) files.set(file, before);
  }
  return files;
}

async function openUsers(call: Call, changed: ReadonlySet<string>, max: number): Promise<OpenFile[]> {
  const paths = new Set<string>();
  for (const { life } of call.engine.entries) {
    for (const { path } of life?.documents.list() ?? []) {
      if (!changed.has(path) && isInside(call.scope.directory, path)) paths.add(path);
    }
  }
  const files: OpenFile[] = [];
  for (const path of [...paths].slice(0, Math.max(0, max))) {
    const file = await openFile(call, path).catch(() => undefined);
    if (file) files.push(file);
  }
  return files;
}

/** The diagnostics of a file while some documents hold other texts than the disk; afterwards they hold the disk's again. */
async function diagnosticsWith(
  call: Call,
  file: OpenFile,
  texts: ReadonlyMap<OpenFile, string>,
): Promise<FileDiagnostic[]> {
  const asked = await askAll<FileDiagnostic[]>(call, file.served.serving, {
    feature: features.diagnostics,
    file,
    isEmpty: (result) => result.length === 0,
    supported: () => true,
    ask: (session) =>
      session.life.serially(async () => {
        const languageOf = (one: OpenFile) =>
          one.served.serving.find(({ entry }) => entry.life === session.life)?.languageId;
        const put = (one: OpenFile, text: string) => {
          const languageId = languageOf(one);
          if (languageId !== undefined) openOrChange(session.life, one.text.path, languageId, text);
        };
        for (const [one, text] of texts) put(one, text);
        session.life.pulled.clear();
        try {
          const raw = await collectRaw(call, session);
          return raw.map((one) => describeDiagnostic(one, session.life.id, (uri) => pathOfUri(call, file, uri)));
        } finally {
          for (const one of texts.keys()) put(one, one.text.source.text);
          session.life.pulled.clear();
        }
      }),
  });
  return asked.flatMap((one) => one.result ?? []);
}

/** Those of `after` that `before` did not have; lines may have moved, so places do not count. */
function fresh(before: readonly FileDiagnostic[], after: readonly FileDiagnostic[]): FileDiagnostic[] {
  const key = (one: FileDiagnostic) => JSON.stringify([one.server, one.code, one.severity, one.message]);
  const left = new Map<string, number>();
  for (const one of before) left.set(key(one), (left.get(key(one)) ?? 0) + 1);
  return after.filter((one) => {
    const count = left.get(key(one)) ?? 0;
    left.set(key(one), count - 1);
    return count <= 0;
  });
}
