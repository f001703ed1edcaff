import { type AnyTool, type Family, systemClock } from "@toolhaft/core";
import { createNet, type Net, type NetOptions } from "@toolhaft/net";
import type { Workspace } from "@toolhaft/workspace";
import { createDownloads } from "./download/download.ts";
import { createChromium } from "./engines/browser.ts";
import { createJinaReader, type JinaReader } from "./engines/jina.ts";
import type { PageReader } from "./page/types.ts";
import { createPages } from "./pages.ts";
import { duckduckgo } from "./search/providers/duckduckgo.ts";
import { hackernews } from "./search/providers/hackernews.ts";
import { jina } from "./search/providers/jina.ts";
import { npm } from "./search/providers/npm.ts";
import { wikipedia } from "./search/providers/wikipedia.ts";
import { createSearch } from "./search/search.ts";
import { downloadFileTool } from "./tools/download-file.ts";
import { webFetchTool } from "./tools/web-fetch.ts";
import { webReadTool } from "./tools/web-read.ts";
import { webSearchTool } from "./tools/web-search.ts";
import type { BrowserPort, SearchProvider, WebOptions } from "./types.ts";

/** The web family: `web_search`, `web_read`, `web_fetch`, `download_file`. */
export interface Web extends Family {
  readonly net: Net;
}

const defaultSourceMs = 8_000;
const defaultDownloadSeconds = 300;

const isNet = (net: Net | NetOptions | undefined): net is Net => net !== undefined && "request" in net;
const isPort = (browser: WebOptions["browser"]): browser is BrowserPort => browser !== undefined && "render" in browser;

/** The providers that need no set-up, with those of the options before or in place of them. */
function providersOf(options: WebOptions): { all: readonly SearchProvider[]; configured: readonly string[] } {
  const given = options.search?.providers ?? [];
  const own = [
    duckduckgo(),
    wikipedia(),
    npm(),
    hackernews(),
    jina(options.jina?.apiKey === undefined ? {} : { apiKey: options.jina.apiKey }),
  ];
  const names = new Set(given.map(({ name }) => name));
  if (names.size < given.length) throw new TypeError("createWeb: two search providers have the same name");
  return {
    all: [...given, ...own.filter(({ name }) => !names.has(name))],
    configured: given.filter(({ general }) => general).map(({ name }) => name),
  };
}

/**
 * Makes the family. Opens nothing: the first call does.
 *
 * @throws TypeError for options that cannot be read
 * @example
 * const web = createWeb();
 * const tools = toolset(web);
 * await tools.get("web_read")?.call({ url: "https://example.org/" });
 * await web.close();
 */
export function createWeb(options: WebOptions = {}): Web {
  const clock = options.clock ?? systemClock;
  const net = isNet(options.net) ? options.net : createNet(options.net ?? {});
  const { all, configured } = providersOf(options);
  let reader: Promise<PageReader> | undefined;
  let browser: BrowserPort | undefined = isPort(options.browser) ? options.browser : undefined;
  let service: JinaReader | undefined;
  const browserOptions = isPort(options.browser) ? {} : (options.browser ?? {});

  async function startReader(): Promise<PageReader> {
    const { createPageReader } = await import("./page/reader.ts");
    return createPageReader({ worker: options.worker ?? true });
  }

  const pages = createPages({
    net,
    clock,
    cache: options.cache,
    dom: options.dom,
    reader: () => {
      reader ??= startReader();
      return reader;
    },
    browser: async () => {
      browser ??= createChromium(
        { net, env: process.env, platform: process.platform, uid: process.getuid?.() },
        browserOptions,
      );
      return browser;
    },
    jina: () => {
      service ??= createJinaReader(net, options.jina, clock, process.env);
      return service;
    },
  });
  const search = createSearch({
    net,
    clock,
    providers: all,
    configured,
    timeoutMs: options.search?.timeoutMs ?? defaultSourceMs,
  });
  const workspaces = new Map<string, Promise<Workspace>>();

  async function makeWorkspace(root: string): Promise<Workspace> {
    const { createWorkspace } = await import("@toolhaft/workspace");
    return createWorkspace({ root });
  }

  const downloads = createDownloads({
    net,
    clock,
    async workspace(directory) {
      if (options.workspace !== undefined) return options.workspace;
      const made = workspaces.get(directory) ?? makeWorkspace(directory);
      workspaces.set(directory, made);
      return made;
    },
  });
  const tools: readonly AnyTool[] = [
    webSearchTool(search),
    webReadTool(pages),
    webFetchTool(pages),
    downloadFileTool(downloads, options.downloadTimeoutSeconds ?? defaultDownloadSeconds),
  ];

  async function close(): Promise<void> {
    const ended = await Promise.allSettled([
      reader?.then((started) => started.close()),
      browser?.close(),
      ...all.map((provider) => provider.close?.()),
      ...[...workspaces.values()].map((made) => made.then((workspace) => workspace.close())),
      // A client that was handed in belongs to who made it.
      isNet(options.net) ? undefined : net.close(),
    ]);
    const faults = ended.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    if (faults.length > 0) throw new AggregateError(faults, "the web family did not close cleanly");
  }

  return { name: "web", tools, net, close, [Symbol.asyncDispose]: close };
}
