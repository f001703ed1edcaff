/** Share of a lease after which an unrenewed run is stopped, so that two runs never overlap. */
const stopShare = 0.9;

/** A lease as its holder measures it: on a monotonic clock, from before each request. */
export class Lease {
  readonly ms: number;
  #renewedAt: number;

  constructor(ms: number, askedAt: number) {
    this.ms = ms;
    this.#renewedAt = askedAt;
  }

  /** @param askedAt `performance.now()` before the request that was answered with yes. */
  renewed(askedAt: number): void {
    this.#renewedAt = Math.max(this.#renewedAt, askedAt);
  }

  /** Every third of the lease. */
  isDue(now: number): boolean {
    return now - this.#renewedAt >= this.ms / 3;
  }

  isOver(now: number): boolean {
    return now - this.#renewedAt >= this.ms * stopShare;
  }
}
