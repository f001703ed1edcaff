import type { Clock } from "@toolhaft/core";
import type { Net, NetOptions, NetScope } from "@toolhaft/net";
import type { Workspace } from "@toolhaft/workspace";

/** A remark about a page or how it was read. */
export interface WebNote {
  code: string;
  message: string;
}

export type EngineName = "default" | "browser" | "jina" | "reader";

/** What a browser gives for a page. */
export interface Rendered {
  finalUrl: string;
  status: number;
  contentType: string;
  html: string;
  redirects: readonly { status: number; from: string; to: string }[];
  notes: readonly WebNote[];
  /** Places that the page wanted and that were refused. */
  blocked: readonly { origin: string; rule: string }[];
}

export interface RenderOptions {
  timeoutMs: number;
  /** Waited for when it is not there at once. */
  selector?: string;
  /** `Accept-Language` of the page's requests. */
  language?: string;
}

/** A browser of one's own in place of the built-in Chromium. */
export interface BrowserPort {
  render(url: string, options: RenderOptions, scope: NetScope): Promise<Rendered>;
  close(): Promise<void>;
}

export interface BrowserOptions {
  /** @default CHROMIUM_PATH, then chromium, google-chrome or msedge on the path */
  executablePath?: string;
  /** Chromium's own sandbox; it cannot run as root. @default true */
  sandbox?: boolean;
  /** The browser ends after so long without a page. @default 60_000 */
  idleMs?: number;
}

export interface JinaOptions {
  apiKey?: string;
  /** @default "https://r.jina.ai" */
  baseUrl?: string;
}

export interface CacheOptions {
  /** @default 64 */
  entries?: number;
  /** @default 32 MiB */
  bytes?: number;
  /** @default 15 minutes */
  ageMs?: number;
}

export interface WebOptions {
  net?: Net | NetOptions;
  search?: {
    /** Beside DuckDuckGo, Wikipedia, npm and Hacker News; one of the same name takes its place. */
    providers?: readonly SearchProvider[];
    /** One provider's time. @default 8_000 */
    timeoutMs?: number;
  };
  /** With it the reader service may be used without asking a person each time. */
  jina?: JinaOptions;
  browser?: BrowserOptions | BrowserPort;
  /** What `download_file` may take where the call names no time: 10 to 1,800. Set 45 under MCP, whose hosts give up at 60. @default 300 */
  downloadTimeoutSeconds?: number;
  /** Where downloads are put in place. @default one for the directory of each call */
  workspace?: Workspace;
  /** Convert pages in a worker thread that can be stopped. @default true */
  worker?: boolean;
  /** The tree that pages are read from: our own parser's, or with `"jsdom"` (optional peer) jsdom's. @default "linkedom" */
  dom?: "linkedom" | "jsdom";
  cache?: CacheOptions | false;
  clock?: Clock;
}

export type SourceStatus =
  | "ok"
  | "empty"
  | "rate_limited"
  | "auth_required"
  | "blocked"
  | "timeout"
  | "error"
  | "unsupported"
  | "skipped";

export interface SearchQuery {
  query: string;
  limit: number;
  /** BCP 47. */
  language: string;
  /** This host and those below it. */
  site?: string;
  since?: "day" | "week" | "month" | "year";
}

export interface RawHit {
  title: string;
  url: string;
  snippet: string;
  /** ISO 8601. */
  published?: string;
}

export type ProviderScope = NetScope & { net: Net; clock: Clock };

export type SourceAnswer =
  | { status: "ok" | "empty"; results: readonly RawHit[]; message?: string }
  | { status: Exclude<SourceStatus, "ok" | "empty">; message: string; retryAfterMs?: number };

/** One search back end. A failure is an answer, not an exception. */
export interface SearchProvider {
  name: string;
  /** Searches the whole web. */
  general: boolean;
  /** @default 1 for general providers, 0.5 for others */
  weight?: number;
  supports: { language: boolean; site: boolean; since: boolean };
  search(query: SearchQuery, scope: ProviderScope): Promise<SourceAnswer>;
  /** Ends what the provider keeps open; called by the family's `close`. A later search may open it anew. */
  close?(): Promise<void>;
}
