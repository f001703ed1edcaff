/** Whether the long suite runs (`npm run test:long`). */
export const long = process.env.TOOLHAFT_LONG === "1";

/** How many random cases or kills to run: all of them in the long suite, a twentieth otherwise. */
export function runs(full: number): number {
  return long ? full : Math.max(1, Math.ceil(full / 20));
}
