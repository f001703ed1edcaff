import { ToolError } from "@toolhaft/core";
import type { Blocked, FilteringProxy, Net, NetScope } from "@toolhaft/net";
import type { Browser, BrowserContext, Page, Request, Response } from "playwright-core";
import { httpError, isBotWall } from "../http-error.ts";
import type { Rendered, RenderOptions } from "../types.ts";

const maxNavigations = 5;
const maxTransfer = 64 * 1024 * 1024;
const maxHtml = 20 * 1024 * 1024;
const longestWaitMs = 10_000;
const stableMs = 500;
/** Scripts that send a reader elsewhere often do so after a second. */
const leastWaitMs = 1_500;
const pollMs = 100;
const closeMs = 2_000;

/** Files that no text needs; kept off by name, since what is inside TLS is not looked at. */
const unwanted = [
  "woff",
  "woff2",
  "ttf",
  "otf",
  "eot",
  "mp4",
  "webm",
  "ogv",
  "mp3",
  "ogg",
  "wav",
  "m4a",
  "m3u8",
  "mpd",
  "avi",
  "mov",
].flatMap((extension) => [`*.${extension}`, `*.${extension}?*`]);

/** Everything that goes wrong around a page, as it happens. */
interface Watch {
  failed: Promise<never>;
  fail(error: Error): void;
  /** Origins that the main frame was sent to. */
  visited: Set<string>;
  blocked: Blocked[];
}

function createWatch(): Watch {
  let fail: (error: Error) => void = () => undefined;
  const failed = new Promise<never>((_resolve, reject) => {
    fail = reject;
  });
  failed.catch(() => undefined);
  return { failed, fail: (error) => fail(error), visited: new Set(), blocked: [] };
}

function denied(blocked: Blocked): ToolError {
  return new ToolError("denied", `the page leads to ${blocked.origin}, which was refused`, {
    details: { by: "policy", rule: blocked.rule },
  });
}

async function openProxy(net: Net, url: string, scope: NetScope, watch: Watch): Promise<FilteringProxy> {
  return net.openProxy(scope, {
    ports: [net.check(url).port],
    maxBytes: maxTransfer,
    onBlocked(blocked) {
      watch.blocked.push(blocked);
      if (watch.visited.has(blocked.origin)) watch.fail(denied(blocked));
    },
    onFailed(origin, error) {
      if (watch.visited.has(origin)) watch.fail(error);
    },
  });
}

/** Checks every place the main frame goes to and ends pages that never stop going. */
function guard(page: Page, context: BrowserContext, net: Net, watch: Watch): void {
  let navigations = 0;
  page.on("request", (request) => {
    if (!request.isNavigationRequest() || request.frame() !== page.mainFrame()) return;
    const url = request.url();
    navigations += 1;
    try {
      const { url: target } = net.check(url);
      watch.visited.add(target.origin);
      const hit = watch.blocked.find(({ origin }) => origin === target.origin);
      if (hit !== undefined) watch.fail(denied(hit));
    } catch (error) {
      if (/^https?:/i.test(url)) watch.fail(error instanceof Error ? error : new Error(String(error)));
    }
    if (navigations > maxNavigations + 1) {
      watch.fail(new ToolError("upstream", `the page went on to another address more than ${maxNavigations} times`));
    }
  });
  page.on("dialog", (dialog) => void dialog.dismiss().catch(() => undefined));
  page.on("crash", () =>
    watch.fail(new ToolError("upstream", "the page crashed the browser's renderer", { hint: 'try engine: "default"' })),
  );
  page.on("download", (download) => {
    void download.cancel().catch(() => undefined);
    watch.fail(
      new ToolError("unsupported", "the URL starts a download in the browser", {
        hint: 'use engine: "default" or download_file',
      }),
    );
  });
  context.on("page", (popup) => {
    if (popup !== page) void popup.close().catch(() => undefined);
  });
}

const textLength = "document.body === null ? 0 : document.body.innerText.length";

/** A selector that the page's own parser refuses is judged later, by ours. */
const hasMatch = (selector: string): string =>
  `(() => { try { return document.querySelector(${JSON.stringify(selector)}) !== null; } catch { return true; } })()`;

/** Until the length of the visible text has not changed for half a second. */
async function waitForText(page: Page, options: RenderOptions, signal: AbortSignal): Promise<void> {
  const start = performance.now();
  let length = -1;
  let since = start;
  const limit = Math.min(longestWaitMs, options.timeoutMs);
  while (performance.now() - start < limit && !signal.aborted) {
    // While the page goes elsewhere there is nothing to measure.
    const now = await page.evaluate<number>(textLength).catch(() => -1);
    if (now !== length) {
      length = now;
      since = performance.now();
    }
    const settled = performance.now() - since >= stableMs && performance.now() - start >= leastWaitMs;
    if (settled && length >= 0) {
      if (options.selector === undefined) return;
      if (await page.evaluate<boolean>(hasMatch(options.selector)).catch(() => true)) return;
    }
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function redirectsOf(last: Request): Promise<Rendered["redirects"]> {
  const steps: { status: number; from: string; to: string }[] = [];
  let to = last;
  for (let from = to.redirectedFrom(); from !== null; from = from.redirectedFrom()) {
    steps.unshift({ status: (await from.response())?.status() ?? 302, from: from.url(), to: to.url() });
    to = from;
  }
  return steps;
}

async function checkStatus(response: Response, url: string): Promise<void> {
  const status = response.status();
  const headers = new Map(Object.entries(await response.allHeaders()));
  if (status < 400 && headers.get("cf-mitigated") !== "challenge") return;
  const body = await response.text().catch(() => "");
  if (status < 400 && !isBotWall(status, headers, body)) return;
  throw httpError(
    { url, status, statusText: response.statusText(), headers, redirects: [], body: body.slice(0, 8_192) },
    Date.now(),
  );
}

async function visit(
  page: Page,
  url: string,
  options: RenderOptions,
  signal: AbortSignal,
  watch: Watch,
): Promise<Rendered> {
  let response: Response | null;
  try {
    response = await page.goto(url, { waitUntil: "domcontentloaded", timeout: options.timeoutMs });
  } catch (error) {
    // What the proxy refused or could not reach is told by the proxy; give it the moment it needs.
    await Promise.race([watch.failed, new Promise((resolve) => setTimeout(resolve, 250))]);
    const reason =
      error instanceof Error
        ? (/net::(\w+)/.exec(error.message)?.[1] ?? error.message.split("\n")[0] ?? "")
        : String(error);
    throw new ToolError("upstream", `the browser could not open ${url}: ${reason}`, { cause: error });
  }
  if (response === null) throw new ToolError("upstream", `the browser got no response from ${url}`);
  await waitForText(page, options, signal);
  const contentType = (await response.headerValue("content-type")) ?? "text/html";
  const isHtml = /html|xml/i.test(contentType) || page.url() !== response.url();
  const html = isHtml ? await page.content() : await response.text();
  if (html.length > maxHtml)
    throw new ToolError("too_large", "the rendered page is larger than 20 MiB", {
      hint: 'use engine: "default" or a selector',
    });
  await checkStatus(response, response.url());
  return {
    finalUrl: page.url(),
    status: response.status(),
    contentType: isHtml ? "text/html; charset=utf-8" : contentType,
    html,
    redirects: await redirectsOf(response.request()),
    notes: [],
    blocked: watch.blocked,
  };
}

function onAbort(signal: AbortSignal | undefined, watch: Watch): () => void {
  const listener = (): void =>
    watch.fail(new ToolError("cancelled", "the page was given up", { cause: signal?.reason }));
  if (signal?.aborted === true) listener();
  signal?.addEventListener("abort", listener, { once: true });
  return () => signal?.removeEventListener("abort", listener);
}

/**
 * Opens a URL in a fresh context whose only way out is a filtering proxy, and gives the page as its scripts left it.
 *
 * @throws ToolError `denied` when the page leads to a refused place; `upstream`, `unsupported`, `too_large`, `cancelled`
 */
export async function renderPage(
  browser: () => Promise<Browser>,
  net: Net,
  url: string,
  options: RenderOptions,
  scope: NetScope,
): Promise<Rendered> {
  const watch = createWatch();
  watch.visited.add(net.check(url).url.origin);
  const leave = onAbort(scope.signal, watch);
  const signal = scope.signal ?? new AbortController().signal;
  let proxy: FilteringProxy | undefined;
  let context: BrowserContext | undefined;
  let opened: Browser | undefined;
  const cleanUp = async (): Promise<void> => {
    await endContext(context, opened);
    await proxy?.close();
  };
  let over = false;
  try {
    const work = (async () => {
      opened = await browser();
      if (over) throw new ToolError("cancelled", "the page was given up");
      proxy = await openProxy(net, url, scope, watch);
      const { server, username, password } = proxy;
      context = await opened.newContext({
        proxy: { server, username, password, bypass: "<-loopback>" },
        serviceWorkers: "block",
        acceptDownloads: false,
        permissions: [],
        ...(options.language === undefined ? {} : { extraHTTPHeaders: { "accept-language": options.language } }),
      });
      const page = await context.newPage();
      guard(page, context, net, watch);
      const session = await context.newCDPSession(page);
      await session.send("Network.enable");
      await session.send("Network.setBlockedURLs", { urls: unwanted });
      return visit(page, url, options, signal, watch);
    })();
    // What was opened after the call was over is closed when it is there.
    work.catch(() => undefined).finally(() => (over ? cleanUp() : undefined));
    return await Promise.race([work, watch.failed]);
  } finally {
    over = true;
    leave();
    await cleanUp();
  }
}

/** A hung page must not hold the call: after two seconds the whole browser goes. */
async function endContext(context: BrowserContext | undefined, browser: Browser | undefined): Promise<void> {
  if (context === undefined) return;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<"late">((resolve) => {
    timer = setTimeout(() => resolve("late"), closeMs);
  });
  // A context of a browser that has gone cannot be closed and need not be.
  const ended = context.close().then(
    () => "closed",
    () => "closed",
  );
  const outcome = await Promise.race([ended, late]);
  clearTimeout(timer);
  if (outcome === "late") await browser?.close();
}
