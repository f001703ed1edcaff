// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { FileMatch, Json, ServerDefinition } from "../definition.ts";

export const scriptFiles: FileMatch[] = [
  { languageId: "typescript", extensions: [".ts", ".mts", ".cts"] },
  { languageId: "typescriptreact", extensions: [".tsx"] },
  { languageId: "javascript", extensions: [".js", ".mjs", ".cjs"], shebangs: ["node", "bun", "deno"] },
  { languageId: "javascriptreact", extensions: [".jsx"] },
];

const root: ServerDefinition["root"] = {
  markers: [
    "package-lock.json",
    "pnpm-lock.yaml",
    "yarn.lock",
    "bun.lock",
    "bun.lockb",
    "tsconfig.json",
    "jsconfig.json",
    "package.json",
  ],
  pick: "outermost",
};

const inlayPreferences: { [key: string]: Json } = {
  includeInlayParameterNameHints: "all",
  includeInlayParameterNameHintsWhenArgumentMatchesName: true,
  includeInlayFunctionParameterTypeHints: true,
  includeInlayVariableTypeHints: true,
  includeInlayVariableTypeHintsWhenTypeMatchesName: true,
  includeInlayPropertyDeclarationTypeHints: true,
  includeInlayFunctionLikeReturnTypeHints: true,
  includeInlayEnumMemberValueHints: true,
};

const codeLenses: { [key: string]: Json } = {
  referencesCodeLens: { enabled: true, showOnAllFunctions: true },
  implementationsCodeLens: { enabled: true },
};

const hintSettings: { [key: string]: Json } = {
  inlayHints: {
    parameterNames: { enabled: "all", suppressWhenArgumentMatchesName: false },
    parameterTypes: { enabled: true },
    variableTypes: { enabled: true, suppressWhenTypeMatchesName: false },
    propertyDeclarationTypes: { enabled: true },
    functionLikeReturnTypes: { enabled: true },
    enumMemberValues: { enabled: true },
  },
};

export const typescript: ServerDefinition = {
  id: "typescript",
  command: "typescript-language-server",
  args: ["--stdio"],
  files: scriptFiles,
  root,
  group: "typescript",
  install: [{ with: "npm", what: "typescript-language-server@5 typescript@5.9" }],
  initializationOptions: {
    hostInfo: "toolhaft",
    disableAutomaticTypingAcquisition: true,
    preferences: inlayPreferences,
    tsserver: { path: "${npm:typescript}/lib/tsserver.js", useSyntaxServer: "never", useClientFileWatcher: true },
  },
  settings: { typescript: codeLenses, javascript: codeLenses },
  ready: { by: "first-answer" },
  usesFolderPackages: ["typescript"],
  renameAtDefinition: true,
  needsOpenFileForSymbols: true,
  editOnlyCommands: ["_typescript.applyCodeAction", "_typescript.applyRefactoring", "_typescript.organizeImports"],
};

export const typescriptNative: ServerDefinition = {
  id: "typescript-native",
  command: "${npm:typescript}/bin/tsc",
  args: ["--lsp", "--stdio"],
  files: scriptFiles,
  root,
  group: "typescript",
  when: { npm: { name: "typescript", range: ">=7" } },
  install: [{ with: "npm", what: "typescript@7" }],
  settings: {
    typescript: { ...hintSettings, ...codeLenses },
    javascript: { ...hintSettings, ...codeLenses },
    "js/ts": { ...hintSettings, ...codeLenses },
    editor: {},
  },
  ready: { by: "first-answer" },
  usesFolderPackages: ["typescript"],
  renameAtDefinition: true,
  needsOpenFileForSymbols: true,
};

export const vtsls: ServerDefinition = {
  id: "vtsls",
  command: "vtsls",
  args: ["--stdio"],
  files: scriptFiles,
  root,
  group: "typescript",
  install: [{ with: "npm", what: "@vtsls/language-server" }],
  settings: {
    typescript: {
      ...hintSettings,
      ...codeLenses,
      tsserver: { useSyntaxServer: "never" },
      tsdk: "${npm:typescript}/lib",
    },
    javascript: { ...hintSettings, ...codeLenses },
    vtsls: { autoUseWorkspaceTsdk: false },
  },
  ready: { by: "first-answer" },
  usesFolderPackages: ["typescript"],
  renameAtDefinition: true,
  needsOpenFileForSymbols: true,
};
