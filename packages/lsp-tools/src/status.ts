import { readFile } from "node:fs/promises";
import type { Call } from "./ask.ts";
import type { Engine } from "./engine.ts";
import type { ServerEntry } from "./entry.ts";
import { type Feature, features } from "./features.ts";
import { installLines } from "./not-usable.ts";
import { holdsMarker } from "./roots.ts";
import type { ServerLife } from "./server.ts";
import type { Missing } from "./serving.ts";
import { shownPath } from "./uris.ts";
import { serversOfFolder } from "./workspace-search.ts";

/** One server as `lsp_servers` shows it. */
export interface ServerStatus {
  id: string;
  languageIds: string[];
  status: "stopped" | "starting" | "loading" | "ready" | "stopping" | "backoff" | "failed";
  command: string;
  version?: string;
  root?: string;
  pid?: number;
  uptimeMs?: number;
  rssBytes?: number;
  openDocuments: number;
  pending: number;
  tools: string[];
  lastError?: string;
  stderrTail?: string;
}

export interface MissingServer {
  id: string;
  languageIds: string[];
  install: string[];
  reason: string;
}

const toolFeatures: [string, Feature][] = [
  ["lsp_diagnostics", features.diagnostics],
  ["lsp_goto_definition", features.definition],
  ["lsp_goto_type_definition", features.typeDefinition],
  ["lsp_goto_implementation", features.implementation],
  ["lsp_goto_declaration", features.declaration],
  ["lsp_find_references", features.references],
  ["lsp_document_highlights", features.highlights],
  ["lsp_document_symbols", features.documentSymbols],
  ["lsp_workspace_symbols", features.workspaceSymbols],
  ["lsp_hover", features.hover],
  ["lsp_signature_help", features.signatureHelp],
  ["lsp_completion", features.completion],
  ["lsp_rename", features.rename],
  ["lsp_code_actions", features.codeActions],
  ["lsp_format_document", features.formatting],
  ["lsp_format_range", features.rangeFormatting],
  ["lsp_prepare_call_hierarchy", features.callHierarchy],
  ["lsp_type_hierarchy_supertypes", features.typeHierarchy],
  ["lsp_folding_ranges", features.folding],
  ["lsp_selection_ranges", features.selection],
  ["lsp_semantic_tokens", features.semanticTokens],
  ["lsp_code_lens", features.codeLens],
  ["lsp_inlay_hints", features.inlayHints],
  ["lsp_document_links", features.links],
  ["lsp_document_colors", features.colors],
];

function toolsOf(life: ServerLife | undefined): string[] {
  if (!life) return [];
  return toolFeatures
    .filter(([tool, feature]) => tool === "lsp_diagnostics" || life.supports(feature.method, feature.provider))
    .map(([tool]) => tool);
}

/** What is known of a server now; starts nothing. */
export function statusOf(entry: ServerEntry, directory: string): ServerStatus {
  const { life, definition } = entry;
  const { pid, stderrTail } = entry;
  const alive = life !== undefined && life.loss === undefined;
  return {
    id: entry.id,
    languageIds: [...new Set(definition.files.map((file) => file.languageId))],
    status: entry.state,
    command: life?.program ?? definition.command,
    ...(life?.version !== undefined && { version: life.version }),
    root: shownPath(directory, entry.root),
    ...(pid !== undefined && { pid }),
    ...(alive && { uptimeMs: Math.round(performance.now() - life.startedAt) }),
    openDocuments: life?.documents.size ?? 0,
    pending: entry.pending,
    tools: toolsOf(life),
    ...(entry.lastError !== undefined && { lastError: entry.lastError }),
    ...(entry.lastError !== undefined && stderrTail !== undefined && { stderrTail }),
  };
}

/** Resident memory of a process, where the system tells it cheaply. */
export async function residentBytes(pid: number | undefined): Promise<number | undefined> {
  if (pid === undefined || process.platform !== "linux") return undefined;
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const kib = /^VmRSS:\s+(\d+) kB/m.exec(status)?.[1];
  return kib === undefined ? undefined : Number(kib) * 1024;
}

export async function statuses(engine: Engine, directory: string): Promise<ServerStatus[]> {
  return Promise.all(
    engine.entries.map(async (entry) => {
      const status = statusOf(entry, directory);
      const rssBytes = await residentBytes(status.pid);
      return { ...status, ...(rssBytes !== undefined && { rssBytes }) };
    }),
  );
}

/** Servers that would serve files of the directory but are not installed, or may not run. */
export async function missingServers(call: Call): Promise<MissingServer[]> {
  const folder = await serversOfFolder(call);
  const served = new Set(
    folder.found.flatMap((one) => (one.serving.definition.group ? [one.serving.definition.group] : [])),
  );
  const groups = new Set<string>();
  const missing: MissingServer[] = [];
  for (const one of folder.missing) {
    const { group } = one.definition;
    // of a group one is enough
    if (group !== undefined && (served.has(group) || groups.has(group))) continue;
    if (group !== undefined) groups.add(group);
    missing.push(describeMissing(one, call.scope.directory));
  }
  return missing;
}

function describeMissing(one: Missing, directory: string): MissingServer {
  const { definition, plan, languageId } = one;
  const marker = holdsMarker(directory, definition.root.markers);
  const here = marker === undefined ? `${languageId} files are here` : `${marker} is here`;
  const why =
    plan.refused.length > 0
      ? `does not work: ${plan.refused[0]?.words ?? ""}`
      : plan.untrusted.length > 0
        ? `${plan.untrusted[0]} is of this folder and may not run`
        : "not installed";
  return {
    id: definition.id,
    languageIds: [...new Set(definition.files.map((file) => file.languageId))],
    install: plan.refused.length > 0 && definition.stub ? [definition.stub.install] : installLines(definition),
    reason: `${why} (${here})`,
  };
}
