import type { ServerCapabilities } from "vscode-languageserver-protocol";

/** What is asked of a server, and how. */
export interface Feature {
  /** For people: "go to definition". */
  noun: string;
  method: string;
  /** The static capability that announces it. */
  provider: keyof ServerCapabilities;
  bound: "fast" | "slow";
  /** Needs no loaded project. */
  syntactic: boolean;
  /** The answer depends on other files. */
  crossFile: boolean;
}

const feature = (
  noun: string,
  method: string,
  provider: keyof ServerCapabilities,
  ...marks: ("slow" | "syntactic" | "cross-file")[]
): Feature => ({
  noun,
  method,
  provider,
  bound: marks.includes("slow") ? "slow" : "fast",
  syntactic: marks.includes("syntactic"),
  crossFile: marks.includes("cross-file"),
});

export const features = {
  definition: feature("definitions", "textDocument/definition", "definitionProvider"),
  typeDefinition: feature("type definitions", "textDocument/typeDefinition", "typeDefinitionProvider"),
  implementation: feature(
    "implementations",
    "textDocument/implementation",
    "implementationProvider",
    "slow",
    "cross-file",
  ),
  declaration: feature("declarations", "textDocument/declaration", "declarationProvider"),
  references: feature("references", "textDocument/references", "referencesProvider", "slow", "cross-file"),
  highlights: feature("highlights", "textDocument/documentHighlight", "documentHighlightProvider"),
  documentSymbols: feature("document symbols", "textDocument/documentSymbol", "documentSymbolProvider", "syntactic"),
  workspaceSymbols: feature("workspace symbols", "workspace/symbol", "workspaceSymbolProvider", "slow", "cross-file"),
  hover: feature("hover texts", "textDocument/hover", "hoverProvider"),
  signatureHelp: feature("signatures", "textDocument/signatureHelp", "signatureHelpProvider"),
  completion: feature("completions", "textDocument/completion", "completionProvider"),
  prepareRename: feature("rename checks", "textDocument/prepareRename", "renameProvider"),
  rename: feature("renames", "textDocument/rename", "renameProvider", "slow", "cross-file"),
  codeActions: feature("code actions", "textDocument/codeAction", "codeActionProvider", "slow", "cross-file"),
  executeCommand: feature("commands", "workspace/executeCommand", "executeCommandProvider", "slow", "cross-file"),
  formatting: feature(
    "document formatting",
    "textDocument/formatting",
    "documentFormattingProvider",
    "slow",
    "syntactic",
  ),
  rangeFormatting: feature(
    "range formatting",
    "textDocument/rangeFormatting",
    "documentRangeFormattingProvider",
    "slow",
    "syntactic",
  ),
  callHierarchy: feature(
    "call hierarchies",
    "textDocument/prepareCallHierarchy",
    "callHierarchyProvider",
    "slow",
    "cross-file",
  ),
  typeHierarchy: feature(
    "type hierarchies",
    "textDocument/prepareTypeHierarchy",
    "typeHierarchyProvider",
    "slow",
    "cross-file",
  ),
  folding: feature("folding ranges", "textDocument/foldingRange", "foldingRangeProvider", "syntactic"),
  selection: feature("selection ranges", "textDocument/selectionRange", "selectionRangeProvider", "syntactic"),
  semanticTokens: feature("semantic tokens", "textDocument/semanticTokens", "semanticTokensProvider", "slow"),
  codeLens: feature("code lenses", "textDocument/codeLens", "codeLensProvider", "slow"),
  inlayHints: feature("inlay hints", "textDocument/inlayHint", "inlayHintProvider", "slow"),
  links: feature("document links", "textDocument/documentLink", "documentLinkProvider", "syntactic"),
  colors: feature("colours", "textDocument/documentColor", "colorProvider", "syntactic"),
  diagnostics: feature("diagnostics", "textDocument/diagnostic", "diagnosticProvider", "slow", "cross-file"),
} satisfies Record<string, Feature>;
