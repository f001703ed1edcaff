import { type Clock, ToolError } from "@toolhaft/core";
import type { Net } from "@toolhaft/net";
import { cacheKey, createDocumentCache, forbidsKeeping, freshUntil } from "./cache.ts";
import { type Document, toDocument } from "./document.ts";
import { fetchPage } from "./engines/http.ts";
import type { JinaReader } from "./engines/jina.ts";
import type { PageQuery, Scope } from "./engines/types.ts";
import { withinTime } from "./limits.ts";
import type { PageReader } from "./page/types.ts";
import type { BrowserPort, CacheOptions, EngineName, WebNote } from "./types.ts";

/** Text under which a page that wants scripts counts as empty. */
const emptyText = 200;

export interface PagesParts {
  net: Net;
  clock: Clock;
  cache: CacheOptions | false | undefined;
  reader: () => Promise<PageReader>;
  browser: () => Promise<BrowserPort>;
  jina: () => JinaReader;
  dom: "linkedom" | "jsdom" | undefined;
}

export interface LoadedPage {
  document: Document;
  fromCache: boolean;
  notes: readonly WebNote[];
}

/** Pages by any engine, kept for their next parts. */
export interface Pages {
  load(engine: EngineName, query: PageQuery, offset: number, scope: Scope): Promise<LoadedPage>;
}

const acceptNames = /^accept(?:-language)?$/i;

export function createPages(parts: PagesParts): Pages {
  const { net, clock } = parts;
  const cache = createDocumentCache(parts.cache, clock);

  async function read(
    query: PageQuery,
    engine: EngineName,
    bytes: Uint8Array,
    url: string,
    contentType: string | undefined,
    signal: AbortSignal,
  ) {
    const reader = await parts.reader();
    const page = await reader.read(bytes, {
      url,
      contentType,
      format: query.format,
      selector: query.selector,
      only: engine === "reader" ? "article" : undefined,
      dom: parts.dom,
      maxRawBytes: query.maxRawBytes,
      signal,
    });
    const wantsText = page.format === "markdown" || page.format === "text";
    if (
      page.mayNeedJavaScript &&
      wantsText &&
      engine !== "browser" &&
      query.selector === undefined &&
      page.content.trim().length < emptyText
    ) {
      throw new ToolError("upstream", `${url} holds next to no text: its scripts would fill it`, {
        hint: 'try engine: "browser"',
        details: { mayNeedJavaScript: true },
      });
    }
    return page;
  }

  async function overHttp(
    engine: EngineName,
    query: PageQuery,
    kept: Document | undefined,
    scope: Scope,
  ): Promise<Document> {
    const conditions: Record<string, string> = {};
    if (kept?.validators.etag !== undefined) conditions["if-none-match"] = kept.validators.etag;
    if (kept?.validators.lastModified !== undefined) conditions["if-modified-since"] = kept.validators.lastModified;
    const answer = await fetchPage(net, query, conditions, scope, clock);
    if (answer.unchanged) {
      if (kept === undefined)
        throw new ToolError("upstream", `${query.url} answered 304 to a request without conditions`);
      return { ...kept, freshUntil: freshUntil(answer.headers, clock.now()) };
    }
    const { hash } = net.check(query.url).url;
    const readUrl = new URL(answer.finalUrl);
    if (readUrl.hash === "") readUrl.hash = hash;
    const page = await read(query, engine, answer.bytes, readUrl.href, answer.contentType, scope.signal);
    readUrl.hash = "";
    const etag = answer.headers.get("etag");
    const lastModified = answer.headers.get("last-modified");
    const personal = Object.keys(query.headers).some((name) => !acceptNames.test(name));
    return toDocument(
      {
        url: query.url,
        finalUrl: readUrl.href,
        status: answer.status,
        redirects: answer.redirects,
        engine,
        page,
        notes: answer.notes,
      },
      {
        freshUntil: freshUntil(answer.headers, clock.now()),
        validators: {
          ...(etag === undefined ? {} : { etag }),
          ...(lastModified === undefined ? {} : { lastModified }),
        },
        reusable: !personal && !forbidsKeeping(answer.headers),
      },
    );
  }

  async function inBrowser(query: PageQuery, scope: Scope): Promise<Document> {
    const browser = await parts.browser();
    const language = Object.entries(query.headers).find(([name]) => name.toLowerCase() === "accept-language")?.[1];
    const rendered = await browser.render(
      query.url,
      {
        timeoutMs: query.timeoutMs,
        ...(query.selector === undefined ? {} : { selector: query.selector }),
        ...(language === undefined ? {} : { language }),
      },
      scope,
    );
    const readUrl = new URL(rendered.finalUrl);
    if (readUrl.hash === "") readUrl.hash = net.check(query.url).url.hash;
    const bytes = new TextEncoder().encode(rendered.html);
    const page = await read(query, "browser", bytes, readUrl.href, rendered.contentType, scope.signal);
    const blocked = rendered.blocked.map(({ origin, rule }) => `${origin} (${rule})`);
    const notes =
      blocked.length === 0
        ? []
        : [{ code: "blocked_origins", message: `refused to the page: ${blocked.slice(0, 20).join(", ")}` }];
    return toDocument(
      {
        url: query.url,
        finalUrl: rendered.finalUrl.replace(/#.*$/s, ""),
        status: rendered.status,
        redirects: rendered.redirects,
        engine: "browser",
        page,
        notes: [...rendered.notes, ...notes],
      },
      { freshUntil: 0, validators: {}, reusable: false },
    );
  }

  async function byService(query: PageQuery, scope: Scope): Promise<Document> {
    const served = await parts.jina().read(query, scope);
    return toDocument(
      {
        url: query.url,
        finalUrl: served.finalUrl,
        status: served.status,
        redirects: [],
        engine: "jina",
        page: served.page,
        notes: [],
      },
      { freshUntil: 0, validators: {}, reusable: false },
    );
  }

  function fresh(engine: EngineName, query: PageQuery, kept: Document | undefined, scope: Scope): Promise<Document> {
    if (engine === "browser") return inBrowser(query, scope);
    if (engine === "jina") return byService(query, scope);
    return overHttp(engine, query, kept, scope);
  }

  return {
    async load(engine, query, offset, scope) {
      const { url } = net.check(query.url);
      const asked = { ...query, url: url.href };
      const key = cacheKey({
        url: url.href,
        engine,
        format: query.format,
        selector: query.selector,
        headers: query.headers,
      });
      const kept = cache.get(key);
      const status = kept?.status ?? 0;
      if (kept !== undefined && offset > 0) return { document: kept, fromCache: true, notes: [] };
      if (kept?.reusable === true && clock.now() < kept.freshUntil)
        return { document: kept, fromCache: true, notes: [] };
      const before = cache.lastVersion(key);
      const revalidated = kept?.reusable === true && status === 200 ? kept : undefined;
      const document = await withinTime(query.timeoutMs, scope.signal, (signal) =>
        fresh(engine, asked, revalidated, { ...scope, signal }),
      );
      if (document.status === 200) cache.set(key, document);
      const changed = offset > 0 && before !== undefined && before !== document.version;
      return {
        document,
        fromCache:
          revalidated !== undefined && document.version === revalidated.version && document.page === revalidated.page,
        notes: changed
          ? [
              {
                code: "changed",
                message: `the page changed since the last part: version ${before} became ${document.version}`,
              },
            ]
          : [],
      };
    },
  };
}
