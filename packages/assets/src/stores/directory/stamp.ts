import type { BigIntStats } from "node:fs";

/** Tells two states of a file apart without reading it: device, inode, size and both times. */
export function stampOf(stat: BigIntStats): string {
  return `${stat.dev}:${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

/** Milliseconds within which a file may change twice with one time: kernels count in ticks of up to 10 ms. */
const tickMs = 60;

/** Whether a later change could still bear the same stamp; such a file is read again next time. */
export function isRacy(stat: BigIntStats, now: number): boolean {
  const changed = Number(stat.ctimeNs / 1_000_000n);
  return now - changed < tickMs;
}
