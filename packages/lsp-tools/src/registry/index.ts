import type { ServerDefinition } from "../definition.ts";
import { astro, mdx, svelte, vue } from "./frameworks.ts";
import { biome, eslint, oxlint, tailwind } from "./linters.ts";
import { plainServers } from "./plain.ts";
import { basedpyright, pylsp, pyright, ruff } from "./python.ts";
import { bash, dockerfile } from "./shells.ts";
import { ccls, clangd, gopls, java, rust } from "./systems.ts";
import { typescript, typescriptNative, vtsls } from "./typescript.ts";
import { css, graphql, html, json, markdown, prisma, someSass, yaml } from "./web.ts";

/** The servers known from the start. Order matters: inside a group the first usable one serves, and results merge in it. */
export const builtinServers: readonly ServerDefinition[] = [
  typescriptNative,
  typescript,
  vtsls,
  vue,
  svelte,
  astro,
  mdx,
  html,
  css,
  someSass,
  json,
  markdown,
  yaml,
  bash,
  dockerfile,
  graphql,
  prisma,
  basedpyright,
  pyright,
  pylsp,
  gopls,
  rust,
  clangd,
  ccls,
  java,
  ...plainServers,
  eslint,
  biome,
  oxlint,
  ruff,
  tailwind,
];
