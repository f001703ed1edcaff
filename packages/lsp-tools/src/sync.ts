import { extname } from "node:path";
import type { DiskChange, DiskMonitor, DiskReader } from "./disk-watch.ts";
import type { Feature } from "./features.ts";
import { type FileKind, languageFor } from "./languages.ts";
import type { CallScope } from "./launch.ts";
import type { ServerLife } from "./server.ts";
import type { FileText, Texts } from "./texts.ts";
import { pathToUri } from "./uris.ts";

/** Most files opened at once because they changed on disk. */
const maxOverlays = 64;
const eventBatch = 500;
/** What tools write, not people: told to servers as events, never opened. */
const outputFolders = /[\\/](?:dist|build|out|target|coverage|bin|obj)[\\/]/;

export interface Syncing {
  life: ServerLife;
  monitor: DiskMonitor;
  reader: DiskReader;
  texts: Texts;
  overrides: Readonly<Record<string, string>>;
  /** Look at the whole disk even if that was done just before. */
  thorough: boolean;
}

export interface Synced {
  /** So many changed files could not be opened that this answer may lack them. */
  overflow: number;
}

/**
 * Brings a server up to the state of the disk: every change that finished before the call has reached it afterwards.
 * The addressed file, when there is one, is open then.
 */
export async function syncWithDisk(
  syncing: Syncing,
  scope: CallScope,
  feature: Pick<Feature, "crossFile">,
  file: { text: FileText; languageId: string } | undefined,
): Promise<Synced> {
  const { life, monitor, reader } = syncing;
  return life.serially(async () => {
    for (const folder of life.registrations.watchedFolders()) await includeFolder(monitor, life.root, folder);
    await monitor.barrier(syncing.thorough);
    const changes = reader.take();
    const overflow = changes.length > 0 ? await tellChanges(syncing, scope, changes, file?.text.path) : 0;
    if (file) openOrChange(life, file.text.path, file.languageId, file.text.source.text);
    if (feature.crossFile) await settleDocuments(life, scope);
    return { overflow };
  });
}

/** Opens a document or sends its change; earlier diagnostics of it are void. */
export function openOrChange(life: ServerLife, path: string, languageId: string, text: string): void {
  const { document, sent } = life.documents.sync(path, languageId, text);
  if (!sent) return;
  life.published.forget(path);
  life.readiness.documentOpened();
  document.sentAt = performance.now();
}

/** A skipped folder is watched once a registered pattern lies inside it. */
async function includeFolder(monitor: DiskMonitor, root: string, folder: string): Promise<void> {
  if (folder === root || root.startsWith(`${folder}/`)) return;
  if (/[\\/](?:node_modules|\.git)(?:[\\/]|$)/.test(folder) && folder.startsWith(`${root}/`))
    await monitor.include(folder);
}

async function tellChanges(
  syncing: Syncing,
  scope: CallScope,
  changes: readonly DiskChange[],
  addressed: string | undefined,
): Promise<number> {
  const { life, texts } = syncing;
  const fileTypes = { created: 1, changed: 2, deleted: 3 } as const;
  const events = changes
    .filter((change) => life.registrations.watches(change.path, change.kind))
    .map((change) => ({ uri: pathToUri(change.path), type: fileTypes[change.kind] }));
  for (const change of changes) {
    if (change.kind !== "deleted") continue;
    life.documents.close(change.path);
    life.published.forget(change.path);
  }
  for (let at = 0; at < events.length; at += eventBatch) {
    life.notify("workspace/didChangeWatchedFiles", { changes: events.slice(at, at + eventBatch) });
  }
  if (changes.length > 0) life.pulled.clear();

  const candidates: { path: string; languageId: string; open: boolean }[] = [];
  for (const { path, kind } of changes) {
    if (kind === "deleted" || path === addressed) continue;
    const known = life.documents.get(path);
    if (known) candidates.push({ path, languageId: known.languageId, open: true });
    else if (!outputFolders.test(path.slice(life.root.length)) && path.startsWith(`${life.root}/`)) {
      const languageId = languageOf(life, syncing.overrides, path);
      if (languageId !== undefined) candidates.push({ path, languageId, open: false });
    }
  }
  const fresh = candidates.filter((one) => !one.open);
  const overflow = fresh.length > maxOverlays ? fresh.length : 0;
  for (const one of candidates) {
    if (!one.open && overflow > 0) continue;
    const text = await texts.tryRead(one.path, scope);
    if (text) openOrChange(life, one.path, one.languageId, text.source.text);
    else life.documents.close(one.path);
  }
  return overflow;
}

function languageOf(life: ServerLife, overrides: FileKind["overrides"], path: string): string | undefined {
  if (extname(path) === "" && !/^(?:Dockerfile|Containerfile)/.test(path.split("/").pop() ?? "")) return undefined;
  return languageFor(life.definition, { path, overrides, interpreter: undefined });
}

/** Servers index open documents in the background: one cheap answer for each that changed shows that they have. */
async function settleDocuments(life: ServerLife, scope: CallScope): Promise<void> {
  const unsettled = life.documents.list().filter((document) => document.unsettled);
  await Promise.all(
    unsettled.map(async (document) => {
      const selector = { uri: document.uri, languageId: document.languageId };
      document.unsettled = false;
      if (!life.supports("textDocument/documentSymbol", "documentSymbolProvider", selector)) return;
      const timeoutMs = life.timeouts.ready;
      await life
        .request(
          "textDocument/documentSymbol",
          { textDocument: { uri: document.uri } },
          { timeoutMs, signal: scope.signal },
        )
        .catch((error: unknown) => {
          // the request that follows meets the same fault and reports it
          document.unsettled = true;
          if (scope.signal.aborted) throw error;
        });
    }),
  );
}
