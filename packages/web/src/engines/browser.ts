import { ToolError } from "@toolhaft/core";
import type { Net, NetScope } from "@toolhaft/net";
import type { Browser } from "playwright-core";
import type { BrowserOptions, BrowserPort, Rendered, RenderOptions } from "../types.ts";
import { findBrowser } from "./find-browser.ts";
import { renderPage } from "./render.ts";

const defaultIdleMs = 60_000;

/**
 * What keeps Chromium's own traffic in: it knows no other way out than a proxy, resolves no name by itself, and sends no
 * WebRTC packet past the proxy. The `force-` form of the WebRTC switch does not stop STUN over UDP.
 */
const isolation: readonly string[] = [
  "--proxy-bypass-list=<-loopback>",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--disable-quic",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-domain-reliability",
  "--no-first-run",
  "--no-pings",
  "--disable-gpu",
  "--blink-settings=imagesEnabled=false",
];

/** Nobody listens there: pages get a proxy of their own, and what the browser wants for itself gets nothing. */
const nowhere = "http://127.0.0.1:9";

export interface ChromiumParts {
  net: Net;
  env: Readonly<Record<string, string | undefined>>;
  platform: string;
  /** User id of this process, where there is one. */
  uid: number | undefined;
}

async function loadPlaywright(): Promise<typeof import("playwright-core")> {
  try {
    return await import("playwright-core");
  } catch (error) {
    if (
      error instanceof Error &&
      "code" in error &&
      (error.code === "ERR_MODULE_NOT_FOUND" || error.code === "MODULE_NOT_FOUND")
    ) {
      throw new ToolError("unavailable", "the package playwright-core is not installed", {
        hint: "install it: npm install playwright-core",
        cause: error,
      });
    }
    throw error;
  }
}

/** One Chromium for the family, started on first use, ended when it has been idle. */
export function createChromium(parts: ChromiumParts, options: BrowserOptions): BrowserPort {
  const idleMs = options.idleMs ?? defaultIdleMs;
  let running: Promise<Browser> | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  async function launch(): Promise<Browser> {
    const executablePath = await findBrowser(options.executablePath, parts.env, parts.platform);
    const sandbox = options.sandbox ?? true;
    if (sandbox && parts.uid === 0) {
      throw new ToolError("unavailable", "Chromium's sandbox does not run as root", {
        hint: "run as another user, or accept pages without the sandbox: createWeb({ browser: { sandbox: false } })",
      });
    }
    const { chromium } = await loadPlaywright();
    try {
      return await chromium.launch({
        executablePath,
        headless: true,
        chromiumSandbox: sandbox,
        args: [...isolation],
        proxy: { server: nowhere },
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
      });
    } catch (error) {
      const reason = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
      throw new ToolError("unavailable", `${executablePath} did not start: ${reason}`, {
        hint: "start it by hand to see what it lacks",
        cause: error,
      });
    }
  }

  function browser(): Promise<Browser> {
    if (running === undefined) {
      const started = launch();
      running = started;
      const forget = (): void => {
        if (running === started) running = undefined;
      };
      started.then((ready) => void ready.on("disconnected", forget), forget);
    }
    return running;
  }

  async function stop(): Promise<void> {
    clearTimeout(idle);
    const ending = running;
    running = undefined;
    const ready = await ending?.catch(() => undefined);
    await ready?.close();
  }

  async function render(url: string, renderOptions: RenderOptions, scope: NetScope): Promise<Rendered> {
    if (closed) throw new ToolError("unavailable", "the browser is closed");
    clearTimeout(idle);
    users += 1;
    try {
      return await renderPage(browser, parts.net, url, renderOptions, scope);
    } finally {
      users -= 1;
      if (users === 0 && !closed) {
        // An end that fails here shows in the next call, which starts another process.
        idle = setTimeout(() => void stop().catch(() => undefined), idleMs);
        idle.unref();
      }
    }
  }

  return {
    render,
    async close() {
      closed = true;
      await stop();
    },
  };
}
