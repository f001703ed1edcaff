import { type Clock, ToolError } from "@toolhaft/core";
import { acceptEncoding, type Body, createBody } from "./body.ts";
import { type Deadline, sleep, underSignal } from "./deadline.ts";
import { type Exchange, exchange, ResetBeforeHeaders } from "./exchange.ts";
import { checkHeaders, checkMethod } from "./headers.ts";
import type { Pace } from "./pace.ts";
import type { AddressPolicy } from "./policy.ts";
import type { Lease, Pool } from "./pool.ts";
import { proxyRefusal } from "./proxy-out.ts";
import { rangeHeaders, rangeNotes } from "./range.ts";
import { follow, type Hop, isRedirect, type RedirectStep, showChain } from "./redirect.ts";
import { backoffMs, longestRetryAfterMs, parseRetryAfter, retryStatuses } from "./retry.ts";
import { createRobots, robotsMaxBytes } from "./robots.ts";
import type { NetOptions, NetRequest, NetResponse, NetScope, Note } from "./types.ts";
import { gateResource, type ParsedUrl } from "./url.ts";
import { version } from "./version.ts";

export interface RequesterParts {
  options: NetOptions;
  clock: Clock;
  policy: AddressPolicy;
  pool: Pool;
  pace: Pace;
  /** Host of the outgoing proxy, to tell its own answers from the site's. */
  proxyHost: string;
  track(ms: number, scope: NetScope, what: string): Deadline;
}

const defaults = { redirects: 5, timeoutMs: 30_000, headersTimeoutMs: 15_000, maxBytes: 20 * 1024 * 1024, attempts: 3 };
const mostRedirects = 20;

/** What stays the same over all hops of one request. */
interface Plan {
  scope: NetScope;
  deadline: Deadline;
  permission: string;
  headersTimeoutMs: number;
  attempts: number;
  maxBytes: number;
  maxWireBytes: number;
  /** Headers of our own, which the caller's may replace where they are allowed to. */
  own: Readonly<Record<string, string>>;
  withRobots: boolean;
}

interface Answered {
  head: Exchange;
  body: Body;
  lease: Lease;
}

export function createRequester(parts: RequesterParts): (request: NetRequest, scope: NetScope) => Promise<NetResponse> {
  const { options, clock, policy, pool, pace } = parts;
  let encodings: string | undefined;
  const userAgent = options.userAgent ?? `toolhaft/${version}`;
  const interval = options.minIntervalMs ?? 250;
  const robots = options.robots === "respect" ? createRobots(userAgent, clock) : undefined;

  async function gate(target: ParsedUrl, hop: Hop, plan: Plan): Promise<void> {
    const { ask } = plan.scope;
    if (ask === undefined) return;
    plan.deadline.enter("permission");
    const question = ask({
      permission: plan.permission,
      resources: [gateResource(target)],
      reason: `${hop.method} ${target.url.origin}`,
      details: { method: hop.method, headers: [...hop.headers.keys()] },
    });
    await underSignal(question, plan.deadline.signal);
  }

  async function robotsDelay(target: ParsedUrl, plan: Plan): Promise<number> {
    if (robots === undefined || !plan.withRobots) return 0;
    return robots(target, async (url) => {
      try {
        const answer = await run(
          { url, maxBytes: robotsMaxBytes, retry: { attempts: 1 } },
          { ...plan, attempts: 1, withRobots: false },
        );
        const { bytes } = await answer.prefix(robotsMaxBytes);
        return { status: answer.status, text: new TextDecoder().decode(bytes) };
      } catch (error) {
        plan.deadline.throwIfEnded();
        if (error instanceof ToolError && error.code !== "denied") return undefined;
        throw error;
      }
    });
  }

  /** One attempt over one connection. */
  async function send(target: ParsedUrl, hop: Hop, plan: Plan): Promise<Answered> {
    const { deadline } = plan;
    const repeatable = hop.method === "GET" || hop.method === "HEAD";
    for (;;) {
      const lease = await pool.acquire(target, deadline, !repeatable);
      deadline.enter("the response");
      const slow = setTimeout(() => {
        deadline.abort(
          new ToolError("timeout", `${target.url.origin} sent no response within ${plan.headersTimeoutMs / 1000} s`),
        );
      }, plan.headersTimeoutMs);
      try {
        const path = target.url.pathname + target.url.search;
        const head = await exchange(
          lease.client,
          {
            path: lease.forward === undefined ? path : target.url.origin + path,
            method: hop.method,
            headers: { ...plan.own, ...Object.fromEntries(hop.headers), ...lease.forward },
            body: hop.body,
          },
          deadline,
          target.url.origin,
        );
        head.onDone((clean) => lease.release(clean));
        const refused =
          lease.forward === undefined ? undefined : proxyRefusal(head.status, head.headers, parts.proxyHost);
        if (refused !== undefined) {
          head.abort(refused);
          throw refused;
        }
        return { head, body: createBody(head, hop.method, plan, deadline), lease };
      } catch (error) {
        lease.release(false);
        deadline.throwIfEnded();
        // A server may close an idle connection at the very moment it is used again; that is no failed attempt.
        if (error instanceof ResetBeforeHeaders && lease.reused && repeatable) continue;
        throw error;
      } finally {
        clearTimeout(slow);
      }
    }
  }

  async function tooBusy(target: ParsedUrl, answered: Answered, afterMs: number): Promise<ToolError> {
    const { head, body } = answered;
    const { bytes } = await body.prefix(8 * 1024).catch(() => ({ bytes: new Uint8Array() }));
    const message = `${target.url.origin} answered ${head.status} and asks to wait ${Math.ceil(afterMs / 1000)} s`;
    return new ToolError("unavailable", message, {
      hint: "try again after that time",
      details: {
        status: head.status,
        url: target.url.href,
        retryAfterMs: afterMs,
        headers: Object.fromEntries(head.headers),
        body: new TextDecoder().decode(bytes),
      },
    });
  }

  /** Sends one hop, again where that is safe. */
  async function attempt(target: ParsedUrl, hop: Hop, plan: Plan, delayMs: number): Promise<Answered> {
    const { deadline } = plan;
    for (let number = 1; ; number += 1) {
      await pace.wait(target.url.origin, Math.max(interval, delayMs), deadline);
      const last = number >= plan.attempts;
      let answered: Answered;
      try {
        answered = await send(target, hop, plan);
      } catch (error) {
        if (!(error instanceof ResetBeforeHeaders)) throw error;
        const pause = backoffMs(number);
        if (last || pause >= deadline.left())
          throw new ToolError("upstream", error.message, { retryable: true, cause: error });
        await waitToRetry(pause, deadline);
        continue;
      }
      const { head } = answered;
      if (plan.attempts <= 1 || !retryStatuses.has(head.status)) return answered;
      const after = parseRetryAfter(head.headers.get("retry-after"), clock.now());
      if (after !== undefined && (after > longestRetryAfterMs || after >= deadline.left()))
        throw await tooBusy(target, answered, after);
      const pause = after ?? backoffMs(number);
      if (last || pause >= deadline.left()) return answered;
      await answered.body.discard();
      await waitToRetry(pause, deadline);
    }
  }

  function waitToRetry(pause: number, deadline: Deadline): Promise<void> {
    deadline.enter("the next attempt");
    return sleep(pause, deadline.signal);
  }

  async function run(request: NetRequest, plan: Plan): Promise<NetResponse> {
    const most = request.redirects ?? defaults.redirects;
    let target = policy.check(request.url);
    let hop: Hop = {
      url: target.url,
      method: checkMethod(request.method ?? "GET"),
      headers: checkHeaders(request.headers ?? {}),
      body: request.body,
    };
    let steps: readonly RedirectStep[] = [];
    const notes: Note[] = [];
    for (;;) {
      let answered: Answered;
      try {
        if (steps.length > 0) target = policy.check(hop.url);
        await gate(target, hop, plan);
        const delayMs = await robotsDelay(target, plan);
        answered = await attempt(target, hop, plan, delayMs);
      } catch (error) {
        throw steps.length > 0 && error instanceof ToolError ? alongChain(error, steps) : error;
      }
      const { head, body, lease } = answered;
      notes.push(...lease.notes);
      if (most !== "manual" && isRedirect(head.status, head.headers)) {
        await body.discard();
        const next = follow(hop, head.status, head.headers.get("location") ?? "", steps, most);
        hop = next.hop;
        steps = next.steps;
        if (next.note !== undefined) notes.push(next.note);
        continue;
      }
      notes.push(...rangeNotes(request.range, head, target));
      return {
        url: target.url.href,
        status: head.status,
        statusText: head.statusText,
        headers: head.headers,
        redirects: steps,
        notes,
        body: body.stream,
        bytes: body.bytes,
        prefix: body.prefix,
        discard: body.discard,
        sizes: body.sizes,
      };
    }
  }

  return async (request, scope) => {
    const timeoutMs = positive("timeoutMs", request.timeoutMs ?? defaults.timeoutMs);
    const maxBytes = positive("maxBytes", request.maxBytes ?? defaults.maxBytes);
    const redirects = request.redirects ?? defaults.redirects;
    if (redirects !== "manual" && !(Number.isInteger(redirects) && redirects >= 0 && redirects <= mostRedirects)) {
      throw new ToolError("invalid_input", `redirects must be "manual" or a whole number from 0 to ${mostRedirects}`);
    }
    const repeatable = ["GET", "HEAD"].includes((request.method ?? "GET").toUpperCase());
    const deadline = parts.track(timeoutMs, scope, "the request");
    try {
      deadline.throwIfEnded();
      encodings ??= await acceptEncoding();
      const plain = request.encoding === "identity" || request.range !== undefined;
      const response = await run(request, {
        scope,
        deadline,
        permission: request.permission ?? "net.fetch",
        headersTimeoutMs: positive("headersTimeoutMs", request.headersTimeoutMs ?? defaults.headersTimeoutMs),
        attempts: request.retry?.attempts ?? (repeatable ? defaults.attempts : 1),
        maxBytes,
        maxWireBytes: positive("maxWireBytes", request.maxWireBytes ?? maxBytes),
        own: {
          "user-agent": userAgent,
          accept: "*/*",
          "accept-encoding": plain ? "identity" : encodings,
          ...rangeHeaders(request.range),
        },
        withRobots: true,
      });
      return endWith(response, deadline);
    } catch (error) {
      deadline.clear();
      throw error;
    }
  };
}

/** The deadline runs until the body is done with. */
function endWith(response: NetResponse, deadline: Deadline): NetResponse {
  const body = {
    async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
      try {
        yield* response.body;
      } finally {
        deadline.clear();
      }
    },
  };
  return {
    ...response,
    body,
    bytes: () => response.bytes().finally(deadline.clear),
    prefix: (limit) => response.prefix(limit).finally(deadline.clear),
    discard: () => response.discard().finally(deadline.clear),
  };
}

function alongChain(error: ToolError, steps: readonly RedirectStep[]): ToolError {
  return new ToolError(error.code, `${error.message} (after ${showChain(steps)})`, {
    ...(error.hint === undefined ? {} : { hint: error.hint }),
    retryable: error.retryable,
    details: { ...error.details, redirects: [...steps] },
    cause: error,
  });
}

function positive(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value;
  throw new ToolError("invalid_input", `${name} must be a number above 0`);
}
