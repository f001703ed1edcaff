// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders that the engine fills in
import type { ServerDefinition } from "../definition.ts";

const root: ServerDefinition["root"] = { markers: ["package.json"], pick: "nearest" };

export const vue: ServerDefinition = {
  id: "vue",
  command: "vue-language-server",
  args: ["--stdio"],
  files: [{ languageId: "vue", extensions: [".vue"] }],
  root,
  install: [{ with: "npm", what: "@vue/language-server @vue/typescript-plugin typescript@5.9" }],
  initializationOptions: { typescript: { tsdk: "${npm:typescript}/lib" } },
  usesFolderPackages: ["typescript"],
  ready: { by: "none" },
  bridges: ["vue"],
  partner: { id: "typescript", plugin: "@vue/typescript-plugin", languages: ["vue"] },
};

export const svelte: ServerDefinition = {
  id: "svelte",
  command: "svelteserver",
  args: ["--stdio"],
  files: [{ languageId: "svelte", extensions: [".svelte"] }],
  root,
  install: [{ with: "npm", what: "svelte-language-server" }],
  initializationOptions: { configuration: {}, isTrusted: true },
  untrusted: { initializationOptions: { configuration: {}, isTrusted: false } },
  ready: { by: "none" },
};

export const astro: ServerDefinition = {
  id: "astro",
  command: "astro-ls",
  args: ["--stdio"],
  files: [{ languageId: "astro", extensions: [".astro"] }],
  root,
  install: [{ with: "npm", what: "@astrojs/language-server typescript@5.9" }],
  initializationOptions: { typescript: { tsdk: "${npm:typescript}/lib" } },
  usesFolderPackages: ["typescript"],
  ready: { by: "none" },
};

export const mdx: ServerDefinition = {
  id: "mdx",
  command: "mdx-language-server",
  args: ["--stdio"],
  files: [{ languageId: "mdx", extensions: [".mdx"] }],
  root,
  install: [{ with: "npm", what: "@mdx-js/language-server typescript@5.9" }],
  initializationOptions: { typescript: { enabled: true, tsdk: "${npm:typescript}/lib" } },
  usesFolderPackages: ["typescript"],
};
