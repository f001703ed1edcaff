import type { Clock } from "@toolhaft/core";
import { refusal } from "./policy.ts";
import type { ParsedUrl } from "./url.ts";

const cacheMs = 60 * 60 * 1000;
export const robotsMaxBytes = 512 * 1024;
const longestDelayMs = 10_000;

/** What the site's file says about one agent. */
interface Rules {
  allows(url: string): boolean;
  delayMs: number;
}

/** The answer for a robots file: its status and text, or undefined when the server gave none. */
export type FetchRobots = (url: URL) => Promise<{ status: number; text: string } | undefined>;

interface RobotsFile {
  isAllowed(url: string, agent: string): boolean | undefined;
  getCrawlDelay(agent: string): number | undefined;
}

/** Its types describe an ES module, the package is CommonJS. */
const isParser = (value: unknown): value is (url: string, text: string) => RobotsFile => typeof value === "function";

const everything: Rules = { allows: () => true, delayMs: 0 };
const nothing: Rules = { allows: () => false, delayMs: 0 };

/**
 * Robots files, kept for an hour. The function made here resolves with the pause between two requests that the site asks
 * for, in milliseconds, and throws `denied` when the file refuses the URL or cannot be had.
 *
 * @see RFC 9309
 */
export function createRobots(
  userAgent: string,
  clock: Clock,
): (target: ParsedUrl, fetchFile: FetchRobots) => Promise<number> {
  const known = new Map<string, { at: number; rules: Rules }>();
  const agent = userAgent.split(/[/\s]/)[0] ?? userAgent;

  async function read(url: URL, fetchFile: FetchRobots): Promise<Rules> {
    const answer = await fetchFile(url);
    if (answer === undefined || answer.status >= 500) return nothing;
    if (answer.status >= 400 || answer.status < 200) return everything;
    const { default: parse }: { default: unknown } = await import("robots-parser");
    if (!isParser(parse)) throw new TypeError("robots-parser has another shape than expected");
    const file = parse(url.href, answer.text);
    const delay = (file.getCrawlDelay(agent) ?? 0) * 1000;
    return {
      allows: (address) => file.isAllowed(address, agent) !== false,
      delayMs: Number.isFinite(delay) ? Math.min(Math.max(delay, 0), longestDelayMs) : 0,
    };
  }

  return async (target, fetchFile) => {
    const { origin } = target.url;
    let entry = known.get(origin);
    if (entry === undefined || clock.now() - entry.at > cacheMs) {
      entry = { at: clock.now(), rules: await read(new URL("/robots.txt", origin), fetchFile) };
      if (known.size > 500) known.clear();
      known.set(origin, entry);
    }
    if (!entry.rules.allows(target.url.href)) {
      throw refusal(
        "robots",
        `the robots file of ${origin} refuses ${target.url.pathname} to ${agent}`,
        'set options.net.robots to "off"',
      );
    }
    return entry.rules.delayMs;
  };
}
