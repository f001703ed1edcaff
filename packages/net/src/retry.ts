/** Statuses after which the same GET may succeed. */
export const retryStatuses: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504]);

const baseMs = 250;
const maxMs = 8_000;

/** A server's wait up to this long is waited for; a longer one is told to the caller. */
export const longestRetryAfterMs = 10_000;

/** Full jitter: anything from nothing to the doubled step. `attempt` is 1 for the first failure. */
export function backoffMs(attempt: number, random: () => number = Math.random): number {
  return Math.round(random() * Math.min(maxMs, baseMs * 2 ** (attempt - 1)));
}

/**
 * Milliseconds of a `Retry-After` header, in seconds or as a date.
 *
 * @returns undefined when it is absent, zero, negative or unreadable
 * @see RFC 9110, section 10.2.3
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim();
  if (text === undefined || text === "") return undefined;
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1000 : /[a-z]/i.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : undefined;
}
