import type { AnyTool, Family } from "@toolhaft/core";
import type { EngineOptions } from "./engine-options.ts";
import { createHierarchyItems } from "./hierarchy-items.ts";
import { createLspPool, type LspPool } from "./pool.ts";
import { codeActions } from "./tools/code-actions.ts";
import { codeLens } from "./tools/code-lens.ts";
import { completion } from "./tools/completion.ts";
import { diagnostics } from "./tools/diagnostics.ts";
import { documentColors } from "./tools/document-colors.ts";
import { documentHighlights } from "./tools/document-highlights.ts";
import { documentLinks } from "./tools/document-links.ts";
import { documentSymbols } from "./tools/document-symbols.ts";
import { executeCodeAction } from "./tools/execute-code-action.ts";
import { findReferences } from "./tools/find-references.ts";
import { foldingRanges } from "./tools/folding-ranges.ts";
import { formatDocument } from "./tools/format-document.ts";
import { formatRange } from "./tools/format-range.ts";
import { gotoDeclaration } from "./tools/goto-declaration.ts";
import { gotoDefinition } from "./tools/goto-definition.ts";
import { gotoImplementation } from "./tools/goto-implementation.ts";
import { gotoTypeDefinition } from "./tools/goto-type-definition.ts";
import { hover } from "./tools/hover.ts";
import { incomingCalls } from "./tools/incoming-calls.ts";
import { inlayHints } from "./tools/inlay-hints.ts";
import { outgoingCalls } from "./tools/outgoing-calls.ts";
import { prepareCallHierarchy } from "./tools/prepare-call-hierarchy.ts";
import { prepareRename } from "./tools/prepare-rename.ts";
import { rename } from "./tools/rename.ts";
import { restartServer } from "./tools/restart-server.ts";
import { selectionRanges } from "./tools/selection-ranges.ts";
import { semanticTokens } from "./tools/semantic-tokens.ts";
import { servers } from "./tools/servers.ts";
import { signatureHelp } from "./tools/signature-help.ts";
import type { Toolbox } from "./tools/toolbox.ts";
import { typeHierarchySubtypes } from "./tools/type-hierarchy-subtypes.ts";
import { typeHierarchySupertypes } from "./tools/type-hierarchy-supertypes.ts";
import { workspaceSymbols } from "./tools/workspace-symbols.ts";

export interface LspToolsOptions extends EngineOptions {
  /** Shared servers; closed by their owner only. The options of servers are then those of the pool. */
  pool?: LspPool;
  /** The first number of lines and columns in parameters and texts; `data` is always 0-based. @default 0 */
  positionBase?: 0 | 1;
}

export interface LspTools extends Family {
  readonly name: "lsp-tools";
  readonly pool: LspPool;
}

const makers: readonly ((toolbox: Toolbox) => AnyTool)[] = [
  diagnostics,
  gotoDefinition,
  gotoTypeDefinition,
  gotoImplementation,
  gotoDeclaration,
  findReferences,
  documentHighlights,
  documentSymbols,
  workspaceSymbols,
  hover,
  signatureHelp,
  completion,
  prepareRename,
  rename,
  codeActions,
  executeCodeAction,
  formatDocument,
  formatRange,
  prepareCallHierarchy,
  incomingCalls,
  outgoingCalls,
  typeHierarchySupertypes,
  typeHierarchySubtypes,
  foldingRanges,
  selectionRanges,
  semanticTokens,
  codeLens,
  inlayHints,
  documentLinks,
  documentColors,
  servers,
  restartServer,
];

/**
 * Makes the 32 tools. Opens nothing: the first call finds and starts the language servers it needs.
 *
 * @example
 * await using lsp = createLspTools();
 * const hover = lsp.tools.find((tool) => tool.name === "lsp_hover");
 */
export function createLspTools(options: LspToolsOptions = {}): LspTools {
  const pool = options.pool ?? createLspPool(options);
  const toolbox: Toolbox = { engine: pool.engine, base: options.positionBase ?? 0, items: createHierarchyItems() };
  const close = async () => {
    if (!options.pool) await pool.close();
  };
  return {
    name: "lsp-tools",
    tools: makers.map((make) => make(toolbox)),
    pool,
    close,
    [Symbol.asyncDispose]: close,
  };
}
