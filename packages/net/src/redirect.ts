import { ToolError } from "@toolhaft/core";
import { afterLatch } from "./headers.ts";
import { refusal } from "./policy.ts";
import type { Note } from "./types.ts";

/** One request of a chain. */
export interface Hop {
  url: URL;
  method: string;
  headers: ReadonlyMap<string, string>;
  body: Uint8Array | string | undefined;
}

export interface RedirectStep {
  status: number;
  from: string;
  to: string;
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const contentHeaders = /^content-/;

export function isRedirect(status: number, headers: ReadonlyMap<string, string>): boolean {
  return redirectStatuses.has(status) && headers.has("location");
}

/** The chain as a reader follows it. */
export function showChain(steps: readonly RedirectStep[]): string {
  const [first] = steps;
  if (first === undefined) return "";
  const shown = [first.from, ...steps.map((step) => step.to)].map((url) =>
    url.length > 200 ? `${url.slice(0, 200)}…` : url,
  );
  return shown.length > 8 ? [...shown.slice(0, 4), "…", ...shown.slice(-3)].join(" -> ") : shown.join(" -> ");
}

function broken(message: string, steps: readonly RedirectStep[]): ToolError {
  return new ToolError("upstream", `${message}: ${showChain(steps)}`, { details: { redirects: [...steps] } });
}

function locationOf(from: URL, location: string, steps: readonly RedirectStep[]): URL {
  const where = location.slice(0, 200);
  if (location.length > 8192 || !URL.canParse(location, from.href)) {
    throw new ToolError("upstream", `${from.href} redirects to something that is no URL: ${JSON.stringify(where)}`, {
      details: { redirects: [...steps] },
    });
  }
  const to = new URL(location, from.href);
  if (to.protocol !== "http:" && to.protocol !== "https:") {
    throw broken(`redirected to the scheme "${to.protocol}", which is not followed`, [
      ...steps,
      { status: 0, from: from.href, to: where },
    ]);
  }
  if (to.username !== "" || to.password !== "") {
    throw new ToolError(
      "upstream",
      `${from.href} redirects to a URL with a user name or password, which is not followed`,
      {
        details: { redirects: [...steps] },
      },
    );
  }
  to.hash = to.hash === "" ? from.hash : to.hash;
  return to;
}

const withoutHash = (url: string): string => url.replace(/#.*$/s, "");

export interface NextHop {
  hop: Hop;
  steps: readonly RedirectStep[];
  note?: Note;
}

/**
 * Where a redirect leads and what goes along. Nothing of the new place is checked here; that happens before it is asked.
 *
 * @throws ToolError `upstream` for a loop, one hop too many, another scheme, userinfo or no URL; `denied` for a body to another origin
 * @see https://fetch.spec.whatwg.org/#http-redirect-fetch
 */
export function follow(
  hop: Hop,
  status: number,
  location: string,
  steps: readonly RedirectStep[],
  max: number,
): NextHop {
  const to = locationOf(hop.url, location, steps);
  const taken = [...steps, { status, from: withoutHash(hop.url.href), to: withoutHash(to.href) }];
  const seen = new Set(taken.map((step) => step.from));
  if (seen.has(withoutHash(to.href)) && (hop.method === "GET" || hop.method === "HEAD"))
    throw broken("a redirect loop", taken);
  if (taken.length > max) throw broken(`more than ${max} redirects`, taken);

  const crosses = to.origin !== hop.url.origin;
  const becomesGet =
    status === 303 ? hop.method !== "HEAD" : (status === 301 || status === 302) && hop.method === "POST";
  const keepsBody = hop.body !== undefined && !becomesGet;
  if (crosses && keepsBody) {
    throw refusal(
      "redirect.body",
      `${hop.url.origin} redirects the request's body to ${to.origin}; it was not sent there`,
    );
  }
  const downgraded = hop.url.protocol === "https:" && to.protocol === "http:";
  let headers = crosses ? afterLatch(hop.headers) : hop.headers;
  if (downgraded) headers = new Map();
  if (becomesGet) headers = new Map([...headers].filter(([name]) => !contentHeaders.test(name)));
  return {
    hop: {
      url: to,
      method: becomesGet ? "GET" : hop.method,
      headers,
      body: keepsBody ? hop.body : undefined,
    },
    steps: taken,
    ...(downgraded ? { note: { code: "downgraded", message: `redirected from https to http: ${to.origin}` } } : {}),
  };
}
