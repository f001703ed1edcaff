import type { ServerCapabilities } from "vscode-languageserver-protocol";
import type { Json } from "./definition.ts";
import type { SyncWishes } from "./documents.ts";
import { type RegisteredDocument, type Registrations, selects } from "./registrations.ts";
import { pathToUri } from "./uris.ts";

export function pluginsOf(initializationOptions: Json | undefined): string[] {
  if (typeof initializationOptions !== "object" || initializationOptions === null) return [];
  const { plugins } = initializationOptions as { plugins?: unknown };
  if (!Array.isArray(plugins)) return [];
  return plugins.map((plugin: { name?: unknown } | null) => String(plugin?.name));
}

export function textField(value: unknown, name: string): string | undefined {
  const field = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
  return typeof field === "string" ? field : undefined;
}

export function folderOf(root: string): { uri: string; name: string } {
  return { uri: pathToUri(root), name: root.split(/[\\/]/).pop() || root };
}

export function documentUriOf(params: unknown): string | undefined {
  if (typeof params !== "object" || params === null) return undefined;
  const { textDocument, item } = params as { textDocument?: { uri?: unknown }; item?: { uri?: unknown } };
  const uri = textDocument?.uri ?? item?.uri;
  return typeof uri === "string" ? uri : undefined;
}

/** A static provider with a selector of its own serves only what it selects. */
export function covers(provider: unknown, document: RegisteredDocument | undefined, root: string): boolean {
  if (document === undefined || typeof provider !== "object" || provider === null) return true;
  const { documentSelector } = provider as { documentSelector?: unknown };
  return documentSelector === undefined || documentSelector === null || selects(documentSelector, document, root);
}

export function syncWishes(capabilities: ServerCapabilities, registrations: Registrations): SyncWishes {
  const sync = capabilities.textDocumentSync;
  if (typeof sync === "number") return { change: sync, save: sync > 0, saveText: false };
  const dynamicSave = registrations.has("textDocument/didSave");
  if (sync === undefined || sync === null) return { change: 1, save: dynamicSave, saveText: false };
  const save = sync.save;
  return {
    change: sync.change ?? (registrations.has("textDocument/didChange") ? 2 : 0),
    save: Boolean(save) || dynamicSave,
    saveText: typeof save === "object" && save.includeText === true,
  };
}
