export { type PageResult, pageResult } from "./page-result.ts";
export { brave, duckduckgo, exa, hackernews, jina, npm, searxng, serper, tavily, wikipedia } from "./providers.ts";
export type {
  BrowserOptions,
  BrowserPort,
  CacheOptions,
  EngineName,
  JinaOptions,
  ProviderScope,
  RawHit,
  Rendered,
  RenderOptions,
  SearchProvider,
  SearchQuery,
  SourceAnswer,
  SourceStatus,
  WebNote,
  WebOptions,
} from "./types.ts";
export { createWeb, type Web } from "./web.ts";
