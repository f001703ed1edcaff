import type { ServerDefinition } from "../definition.ts";

const root: ServerDefinition["root"] = { markers: ["package.json"], pick: "nearest" };
const install: ServerDefinition["install"] = [{ with: "npm", what: "vscode-langservers-extracted" }];

export const html: ServerDefinition = {
  id: "html",
  snippets: true,
  command: "vscode-html-language-server",
  args: ["--stdio"],
  files: [{ languageId: "html", extensions: [".html", ".htm", ".xhtml"] }],
  root,
  install,
  initializationOptions: {
    provideFormatter: true,
    embeddedLanguages: { css: true, javascript: true },
    configurationSection: ["html", "css", "javascript"],
  },
  ready: { by: "none" },
};

export const css: ServerDefinition = {
  id: "css",
  snippets: true,
  command: "vscode-css-language-server",
  args: ["--stdio"],
  files: [
    { languageId: "css", extensions: [".css"] },
    { languageId: "scss", extensions: [".scss"] },
    { languageId: "less", extensions: [".less"] },
  ],
  root,
  install,
  initializationOptions: { provideFormatter: true },
  settings: { css: { validate: true }, scss: { validate: true }, less: { validate: true } },
  clientCommands: { "_css.applyCodeAction": { kind: "edits", uri: 0, version: 1, edits: 2 } },
  ready: { by: "none" },
};

export const json: ServerDefinition = {
  id: "json",
  snippets: true,
  command: "vscode-json-language-server",
  args: ["--stdio"],
  files: [
    {
      languageId: "jsonc",
      extensions: [".jsonc", ".code-workspace"],
      names: ["tsconfig*.json", "jsconfig*.json", ".eslintrc", ".eslintrc.json", "devcontainer.json"],
    },
    { languageId: "json", extensions: [".json", ".webmanifest", ".geojson"] },
  ],
  root,
  install,
  initializationOptions: { provideFormatter: true, handledSchemaProtocols: ["file"] },
  settings: { json: { validate: { enable: true }, format: { enable: true } } },
  clientCommands: { "json.sort": { kind: "json-sort" } },
  ready: { by: "none" },
};

export const markdown: ServerDefinition = {
  id: "markdown",
  command: "vscode-markdown-language-server",
  args: ["--stdio"],
  files: [{ languageId: "markdown", extensions: [".md", ".markdown"] }],
  root: { markers: [".git"], pick: "nearest" },
  install,
  initializationOptions: { markdownFileExtensions: ["md", "markdown"] },
  settings: {
    markdown: {
      validate: { enabled: true },
      suggest: { paths: { enabled: true } },
      occurrencesHighlight: { enabled: true },
    },
  },
  bridges: ["markdown-files"],
  ready: { by: "none" },
};

export const someSass: ServerDefinition = {
  id: "some-sass",
  command: "some-sass-language-server",
  args: ["--stdio"],
  files: [
    { languageId: "scss", extensions: [".scss"] },
    { languageId: "sass", extensions: [".sass"] },
  ],
  root: { markers: [".git"], pick: "nearest" },
  install: [{ with: "npm", what: "some-sass-language-server" }],
  clientCommands: { "_somesass.applyExtractCodeAction": { kind: "edits", uri: 0, version: 1, edits: 2 } },
};

export const yaml: ServerDefinition = {
  id: "yaml",
  command: "yaml-language-server",
  args: ["--stdio"],
  files: [
    {
      languageId: "dockercompose",
      names: ["compose*.yml", "compose*.yaml", "docker-compose*.yml", "docker-compose*.yaml"],
    },
    { languageId: "yaml", extensions: [".yaml", ".yml"] },
  ],
  root: { markers: [".git"], pick: "nearest" },
  install: [{ with: "npm", what: "yaml-language-server@1" }],
  settings: {
    yaml: { schemaStore: { enable: false }, format: { enable: true }, validate: true, hover: true, completion: true },
    redhat: { telemetry: { enabled: false } },
  },
};

export const graphql: ServerDefinition = {
  id: "graphql",
  command: "graphql-lsp",
  args: ["server", "-m", "stream"],
  files: [{ languageId: "graphql", extensions: [".graphql", ".gql"] }],
  root: { markers: [".graphqlrc*", "graphql.config.*", "package.json"], pick: "nearest" },
  install: [{ with: "npm", what: "graphql-language-service-cli graphql" }],
};

export const prisma: ServerDefinition = {
  id: "prisma",
  command: "prisma-language-server",
  args: ["--stdio"],
  files: [{ languageId: "prisma", extensions: [".prisma"] }],
  root: { markers: ["package.json"], pick: "nearest" },
  install: [{ with: "npm", what: "@prisma/language-server" }],
};
