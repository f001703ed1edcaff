// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { FileMatch, ServerDefinition } from "../definition.ts";
import { scriptFiles } from "./typescript.ts";

const frameworkFiles: FileMatch[] = [
  { languageId: "vue", extensions: [".vue"] },
  { languageId: "svelte", extensions: [".svelte"] },
  { languageId: "astro", extensions: [".astro"] },
];
const styleFiles: FileMatch[] = [
  { languageId: "css", extensions: [".css"] },
  { languageId: "scss", extensions: [".scss"] },
  { languageId: "less", extensions: [".less"] },
];

const eslintConfigs = ["eslint.config.*", ".eslintrc", ".eslintrc.*"];

export const eslint: ServerDefinition = {
  id: "eslint",
  command: "vscode-eslint-language-server",
  args: ["--stdio"],
  files: [...scriptFiles, ...frameworkFiles],
  root: { markers: eslintConfigs, pick: "nearest" },
  role: "linter",
  when: { files: eslintConfigs },
  install: [{ with: "npm", what: "vscode-langservers-extracted eslint@9" }],
  // the whole answer to `workspace/configuration` with section ""
  settings: {
    "": {
      validate: "on",
      run: "onType",
      packageManager: null,
      useESLintClass: false,
      useFlatConfig: null,
      experimental: { useFlatConfig: false },
      codeAction: {
        disableRuleComment: { enable: true, location: "separateLine", commentStyle: "line" },
        showDocumentation: { enable: true },
      },
      codeActionOnSave: { enable: false, mode: "all" },
      format: true,
      quiet: false,
      onIgnoredFiles: "off",
      options: {},
      rulesCustomizations: [],
      problems: { shortenToSingleLine: false },
      nodePath: "${npm:eslint}/..",
      workingDirectory: { mode: "location" },
      workspaceFolder: "${workspaceFolder}",
    },
  },
  editOnlyCommands: [
    "eslint.applySingleFix",
    "eslint.applySuggestion",
    "eslint.applySameFix",
    "eslint.applyAllFixes",
    "eslint.applyDisableLine",
    "eslint.applyDisableFile",
  ],
  answers: { "eslint/confirmESLintExecution": 4, "eslint/*": null },
  usesFolderPackages: ["eslint"],
  // its configuration is a program
  untrusted: false,
  timeouts: { push: 30_000 },
  ready: { by: "none" },
};

export const biome: ServerDefinition = {
  id: "biome",
  command: "biome",
  args: ["lsp-proxy"],
  files: [
    ...scriptFiles,
    { languageId: "json", extensions: [".json"] },
    { languageId: "jsonc", extensions: [".jsonc"] },
    { languageId: "css", extensions: [".css"] },
    { languageId: "graphql", extensions: [".graphql", ".gql"] },
    ...frameworkFiles,
  ],
  root: { markers: ["biome.json", "biome.jsonc"], pick: "nearest" },
  role: "linter",
  when: { files: ["biome.json", "biome.jsonc"] },
  install: [{ with: "npm", what: "@biomejs/biome" }],
  settings: { biome: { requireConfiguration: true } },
  sharedDaemon: true,
  stopArgs: ["stop"],
  ready: { by: "none" },
};

export const oxlint: ServerDefinition = {
  id: "oxlint",
  command: "oxlint",
  args: ["--lsp"],
  files: [...scriptFiles, ...frameworkFiles],
  root: { markers: [".oxlintrc.json", "oxlint.config.ts"], pick: "nearest" },
  role: "linter",
  when: { files: [".oxlintrc.json", "oxlint.config.ts"] },
  install: [{ with: "npm", what: "oxlint" }],
  ready: { by: "none" },
};

export const tailwind: ServerDefinition = {
  id: "tailwind",
  command: "tailwindcss-language-server",
  args: ["--stdio"],
  files: [{ languageId: "html", extensions: [".html", ".htm"] }, ...styleFiles, ...scriptFiles, ...frameworkFiles],
  root: { markers: ["tailwind.config.*", "package.json"], pick: "nearest" },
  role: "linter",
  when: { files: ["tailwind.config.*"], npm: { name: "tailwindcss" } },
  install: [{ with: "npm", what: "@tailwindcss/language-server tailwindcss" }],
  settings: {
    editor: { tabSize: 2 },
    tailwindCSS: {
      emmetCompletions: false,
      showPixelEquivalents: true,
      rootFontSize: 16,
      colorDecorators: true,
      suggestions: true,
      hovers: true,
      codeActions: true,
      codeLens: true,
      validate: true,
      classAttributes: ["class", "className", "ngClass", "class:list"],
      classFunctions: [],
      includeLanguages: {},
      files: { exclude: ["**/.git/**", "**/node_modules/**", "**/.hg/**", "**/.svn/**"] },
      lint: {
        cssConflict: "warning",
        invalidApply: "error",
        invalidScreen: "error",
        invalidVariant: "error",
        invalidConfigPath: "error",
        invalidTailwindDirective: "error",
        invalidSourceDirective: "error",
        recommendedVariantOrder: "warning",
        usedBlocklistedClass: "warning",
        suggestCanonicalClasses: "warning",
      },
      experimental: { classRegex: [], configFile: null },
    },
  },
  usesFolderPackages: ["tailwindcss"],
  registersOnOpen: true,
  // configuration and plugins are programs
  untrusted: false,
  // only so does it tell when the project of an open document is built; before, it answers with nothing
  initializationOptions: { testMode: true, additionalFeatures: [] },
  ready: { by: "notification", method: "@/tailwindCSS/documentReady", path: "uri", matches: "." },
};
