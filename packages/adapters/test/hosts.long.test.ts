import { describe, expect, it } from "vitest";
import { exampleFaults, hostFolders, installHost, testHost } from "./host-folders.ts";

/** Each host declares what it has lost; fewer tests than this would mean that the suite did not run. */
const leastTests = 22;

/** Two at a time: while one installs, or waits for its own loop, another is tested. */
const atOnce = 2;
const waiting: (() => void)[] = [];
let running = 0;

async function inTurn<T>(work: () => Promise<T>): Promise<T> {
  if (running >= atOnce) await new Promise<void>((resolve) => waiting.push(resolve));
  else running++;
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next === undefined) running--;
    else next();
  }
}

describe.concurrent("hosts with an installation of their own", () => {
  it.for(hostFolders())("$name: $packages", { timeout: 3_600_000 }, async ({ name }, { skip }) => {
    const { problem, report, faults } = await inTurn(async () => {
      const problem = await installHost(name);
      if (problem !== undefined) return { problem };
      return { report: await testHost(name), faults: await exampleFaults(name) };
    });
    if (problem !== undefined) {
      console.warn(`SKIPPED ${name}: it cannot be installed here: ${problem}`);
      skip(`cannot be installed: ${problem}`);
    }
    expect(report?.failures).toEqual([]);
    expect(report?.passed).toBeGreaterThanOrEqual(leastTests);
    expect(faults).toBe("");
  });
});
