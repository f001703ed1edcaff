import type { ClientCapabilities } from "vscode-languageserver-protocol";
import type { Encoding, ServerDefinition } from "./definition.ts";

const symbolKinds = Array.from({ length: 26 }, (_, index) => index + 1);
const completionKinds = Array.from({ length: 25 }, (_, index) => index + 1);
const dynamic = { dynamicRegistration: true };
const markup = ["markdown" as const, "plaintext" as const];

/** What this client can do; only what is implemented is declared, for servers take it at its word. */
export function clientCapabilities(
  encodings: readonly Encoding[],
  definition: Pick<ServerDefinition, "experimental" | "snippets">,
): ClientCapabilities {
  const { experimental, snippets = false } = definition;
  return {
    general: {
      positionEncodings: [...encodings],
      staleRequestSupport: { cancel: true, retryOnContentModified: [] },
    },
    window: {
      workDoneProgress: true,
      showDocument: { support: true },
      showMessage: { messageActionItem: { additionalPropertiesSupport: false } },
    },
    workspace: {
      applyEdit: true,
      workspaceEdit: {
        documentChanges: true,
        resourceOperations: ["create", "rename", "delete"],
        failureHandling: "transactional",
        normalizesLineEndings: true,
        changeAnnotationSupport: { groupsOnLabel: false },
      },
      didChangeConfiguration: dynamic,
      didChangeWatchedFiles: { dynamicRegistration: true, relativePatternSupport: true },
      symbol: {
        ...dynamic,
        symbolKind: { valueSet: symbolKinds as [] },
        tagSupport: { valueSet: [1] },
        resolveSupport: { properties: ["location.range"] },
      },
      executeCommand: dynamic,
      workspaceFolders: true,
      configuration: true,
      codeLens: { refreshSupport: true },
      semanticTokens: { refreshSupport: true },
      inlayHint: { refreshSupport: true },
      diagnostics: { refreshSupport: true },
      foldingRange: { refreshSupport: true },
      fileOperations: { dynamicRegistration: true, didCreate: true, didRename: true, didDelete: true },
    },
    textDocument: {
      synchronization: { dynamicRegistration: true, didSave: true, willSave: false, willSaveWaitUntil: false },
      publishDiagnostics: {
        relatedInformation: true,
        tagSupport: { valueSet: [1, 2] },
        versionSupport: true,
        codeDescriptionSupport: true,
        dataSupport: true,
      },
      diagnostic: { dynamicRegistration: true, relatedDocumentSupport: true },
      completion: {
        ...dynamic,
        contextSupport: true,
        completionItem: {
          snippetSupport: snippets,
          documentationFormat: markup,
          deprecatedSupport: true,
          tagSupport: { valueSet: [1] },
          insertReplaceSupport: true,
          resolveSupport: { properties: ["documentation", "detail", "additionalTextEdits"] },
          labelDetailsSupport: true,
        },
        completionItemKind: { valueSet: completionKinds as [] },
        completionList: {
          itemDefaults: ["commitCharacters", "editRange", "insertTextFormat", "insertTextMode", "data"],
        },
      },
      hover: { ...dynamic, contentFormat: markup },
      signatureHelp: {
        ...dynamic,
        contextSupport: true,
        signatureInformation: {
          documentationFormat: markup,
          parameterInformation: { labelOffsetSupport: true },
          activeParameterSupport: true,
        },
      },
      declaration: { ...dynamic, linkSupport: true },
      definition: { ...dynamic, linkSupport: true },
      typeDefinition: { ...dynamic, linkSupport: true },
      implementation: { ...dynamic, linkSupport: true },
      references: dynamic,
      documentHighlight: dynamic,
      documentSymbol: {
        ...dynamic,
        hierarchicalDocumentSymbolSupport: true,
        symbolKind: { valueSet: symbolKinds as [] },
        tagSupport: { valueSet: [1] },
      },
      codeAction: {
        ...dynamic,
        isPreferredSupport: true,
        disabledSupport: true,
        dataSupport: true,
        resolveSupport: { properties: ["edit", "command"] },
        honorsChangeAnnotations: true,
        codeActionLiteralSupport: {
          codeActionKind: {
            valueSet: [
              "",
              "quickfix",
              "refactor",
              "refactor.extract",
              "refactor.inline",
              "refactor.move",
              "refactor.rewrite",
              "source",
              "source.organizeImports",
              "source.fixAll",
            ],
          },
        },
      },
      codeLens: { ...dynamic, resolveSupport: { properties: ["command"] } },
      documentLink: { ...dynamic, tooltipSupport: true },
      colorProvider: dynamic,
      formatting: dynamic,
      rangeFormatting: dynamic,
      rename: {
        ...dynamic,
        prepareSupport: true,
        prepareSupportDefaultBehavior: 1,
        honorsChangeAnnotations: true,
      },
      foldingRange: { ...dynamic, lineFoldingOnly: false, foldingRange: { collapsedText: false } },
      selectionRange: dynamic,
      callHierarchy: dynamic,
      typeHierarchy: dynamic,
      semanticTokens: {
        ...dynamic,
        requests: { range: true, full: true },
        tokenTypes: semanticTokenTypes,
        tokenModifiers: semanticTokenModifiers,
        formats: ["relative"],
        overlappingTokenSupport: true,
        multilineTokenSupport: true,
      },
      inlayHint: { ...dynamic, resolveSupport: { properties: [] } },
    },
    ...(experimental && { experimental }),
  };
}

const semanticTokenTypes = [
  "namespace",
  "type",
  "class",
  "enum",
  "interface",
  "struct",
  "typeParameter",
  "parameter",
  "variable",
  "property",
  "enumMember",
  "event",
  "function",
  "method",
  "macro",
  "keyword",
  "modifier",
  "comment",
  "string",
  "number",
  "regexp",
  "operator",
  "decorator",
  "label",
];

const semanticTokenModifiers = [
  "declaration",
  "definition",
  "readonly",
  "static",
  "deprecated",
  "abstract",
  "async",
  "modification",
  "documentation",
  "defaultLibrary",
];
