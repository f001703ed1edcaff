import { type Clock, ToolError } from "@toolhaft/core";
import type { Net, NetScope } from "@toolhaft/net";
import { withinTime } from "../limits.ts";
import type { SearchProvider, SearchQuery, SourceAnswer, SourceStatus } from "../types.ts";
import { oneLine } from "../untrusted.ts";
import { thrownAnswer } from "./answer.ts";
import { type FusedHit, fuse, limitHosts } from "./fusion.ts";

const allMs = 12_000;
const defaultBackOffMs = 60_000;

export interface SourceReport {
  name: string;
  status: SourceStatus;
  count: number;
  ms: number;
  retryAfterMs?: number | undefined;
  message?: string | undefined;
}

export interface SearchOutcome {
  hits: readonly FusedHit[];
  sources: readonly SourceReport[];
  /** Set when our own side said no to every source that was to be asked. */
  denied: ToolError | undefined;
}

export interface Search {
  names: readonly string[];
  run(query: SearchQuery, source: string, scope: NetScope): Promise<SearchOutcome>;
}

export interface SearchParts {
  net: Net;
  clock: Clock;
  providers: readonly SearchProvider[];
  /** General providers that `auto` asks; none: DuckDuckGo. */
  configured: readonly string[];
  timeoutMs: number;
}

/** Words by which npm and Hacker News are meant; nothing that an ordinary sentence holds. */
const meantBy: Readonly<Record<string, RegExp>> = {
  npm: /(?:^|[\s"'(])npm(?=$|[\s"'),.?!:;])|(?:^|[\s"'(])@[a-z0-9][a-z0-9-._~]*\/[a-z0-9][a-z0-9-._~]*/i,
  hackernews: /(?:^|[\s"'(])(?:hacker\s+news|hn)(?=$|[\s"'),.?!:;])/i,
};

/** Whether `auto` asks a provider for this query. */
export function isMeant(name: string, query: string): boolean {
  return meantBy[name]?.test(query) ?? true;
}

export function createSearch(parts: SearchParts): Search {
  const { clock, providers } = parts;
  const pausedUntil = new Map<string, number>();

  function choose(query: SearchQuery, source: string): readonly SearchProvider[] {
    if (source !== "auto") {
      const one = providers.find(({ name }) => name === source);
      if (one !== undefined) return [one];
      throw new ToolError("invalid_input", `there is no search source "${oneLine(source, 40)}"`, {
        hint: `use auto or one of ${providers.map(({ name }) => name).join(", ")}`,
      });
    }
    const general = parts.configured.length > 0 ? parts.configured : ["duckduckgo"];
    return providers.filter(({ name }) => {
      if (name === "wikipedia") return query.site === undefined || query.site.endsWith("wikipedia.org");
      if (name in meantBy) return isMeant(name, query.query);
      return general.includes(name);
    });
  }

  /** A provider that cannot do what is asked for is left out and says so. */
  function missing(provider: SearchProvider, query: SearchQuery): string | undefined {
    if (query.since !== undefined && !provider.supports.since) return "cannot search by date";
    const own = provider.name === "wikipedia" && query.site?.endsWith("wikipedia.org") === true;
    if (query.site !== undefined && !provider.supports.site && !own) return "cannot search one site";
    return undefined;
  }

  async function ask(
    provider: SearchProvider,
    query: SearchQuery,
    scope: NetScope,
    onDenied: (error: ToolError) => void,
  ): Promise<SourceAnswer> {
    const lack = missing(provider, query);
    if (lack !== undefined) return { status: "unsupported", message: lack };
    const paused = (pausedUntil.get(provider.name) ?? 0) - clock.now();
    if (paused > 0)
      return { status: "rate_limited", message: "asked too often; not asked again yet", retryAfterMs: paused };
    try {
      return await withinTime(Math.min(parts.timeoutMs, allMs), scope.signal, (signal) =>
        abandonable(provider.search(query, { ...scope, signal, net: parts.net, clock }), signal),
      );
    } catch (error) {
      if (error instanceof ToolError && error.code === "denied") onDenied(error);
      return thrownAnswer(error, scope.signal);
    }
  }

  async function report(
    provider: SearchProvider,
    query: SearchQuery,
    scope: NetScope,
  ): Promise<{ report: SourceReport; answer: SourceAnswer; denied: ToolError | undefined }> {
    const start = performance.now();
    let denied: ToolError | undefined;
    const answer = await ask(provider, query, scope, (error) => {
      denied = error;
    });
    const wasPaused = pausedUntil.get(provider.name) ?? 0;
    let retryAfterMs = "retryAfterMs" in answer ? answer.retryAfterMs : undefined;
    if (answer.status === "rate_limited" && wasPaused <= clock.now()) {
      retryAfterMs ??= defaultBackOffMs;
      pausedUntil.set(provider.name, clock.now() + retryAfterMs);
    }
    const results = answer.status === "ok" ? answer.results : [];
    return {
      answer,
      denied,
      report: {
        name: provider.name,
        status: answer.status,
        count: results.length,
        ms: Math.round(performance.now() - start),
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
        ...(answer.message === undefined ? {} : { message: oneLine(answer.message) }),
      },
    };
  }

  return {
    names: providers.map(({ name }) => name),
    async run(query, source, scope) {
      const chosen = choose(query, source);
      const answers = await Promise.all(chosen.map((provider) => report(provider, query, scope)));
      const ranked = answers.flatMap(({ answer }, index) => {
        const provider = chosen[index];
        if (answer.status !== "ok" || provider === undefined) return [];
        const hits = answer.results.filter(({ url }) => query.site === undefined || isBelow(url, query.site));
        return [{ name: provider.name, weight: provider.weight ?? (provider.general ? 1 : 0.5), hits }];
      });
      const fused = fuse(ranked);
      const hits = source === "auto" ? limitHosts(fused, query.limit) : fused;
      const asked = answers.filter((each) => !neither.has(each.report.status));
      const refused = asked.every((each) => each.denied !== undefined);
      return {
        hits: hits.slice(0, query.limit),
        sources: answers.map((each) => each.report),
        denied: refused ? asked[0]?.denied : undefined,
      };
    },
  };
}

function isBelow(url: string, site: string): boolean {
  if (!URL.canParse(url)) return false;
  const host = new URL(url).hostname.replace(/^www\./, "");
  const wanted = site.toLowerCase().replace(/^www\./, "");
  return host === wanted || host.endsWith(`.${wanted}`);
}

/** A provider that ignores its signal must not hold the others up. */
function abandonable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

const neither: ReadonlySet<SourceStatus> = new Set(["skipped", "unsupported"]);
const waits: ReadonlySet<SourceStatus> = new Set(["rate_limited", "auth_required", "timeout"]);

/** One source's state in a few words. */
export function describe({ name, status, count, message }: SourceReport): string {
  if (status === "ok") return `${name} ok ${count}`;
  if (status === "empty") return `${name} none`;
  const words = status.replace("_", " ");
  return `${name} ${words}${message === undefined ? "" : ` (${message})`}`;
}

/**
 * No hit is only a result when no source failed.
 *
 * @throws ToolError with the state of every source
 */
export function refuseSilentFailure(outcome: SearchOutcome): void {
  if (outcome.hits.length > 0) return;
  if (outcome.denied !== undefined) throw outcome.denied;
  const { sources } = outcome;
  const failed = sources.filter(({ status }) => status !== "ok" && status !== "empty" && !neither.has(status));
  const answered = sources.filter(({ status }) => status === "ok" || status === "empty");
  if (failed.length === 0 && answered.length > 0) return;
  const details = { sources: sources.map((source) => ({ ...source })) };
  if (sources.length > 0 && failed.length === 0) {
    throw new ToolError("unsupported", `no source can do what was asked for: ${sources.map(describe).join("; ")}`, {
      hint: "leave out since or site, or name another source",
      details,
    });
  }
  const states = failed.map(describe).join("; ");
  const message =
    answered.length === 0
      ? `every search source failed: ${states}`
      : `no results from ${answered.map(({ name }) => name).join(", ")}; failed: ${states}`;
  const unavailable = failed.some(({ status }) => waits.has(status));
  const retry = Math.min(...failed.flatMap(({ retryAfterMs }) => (retryAfterMs === undefined ? [] : [retryAfterMs])));
  throw new ToolError(unavailable ? "unavailable" : "upstream", message, {
    hint: failed.some(({ status }) => status === "auth_required")
      ? "set the key, or use another source"
      : "try again later, or name another source",
    details: Number.isFinite(retry) ? { ...details, retryAfterMs: retry } : details,
  });
}
