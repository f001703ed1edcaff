import { describe, expect, it } from "vitest";
import { hostFolders, installHost, testHost } from "./host-folders.ts";

/** Each host declares what it has lost; fewer tests than this would mean that the suite did not run. */
const leastTests = 22;

describe("hosts with an installation of their own", () => {
  it.for(hostFolders())("$name: $packages", { timeout: 1_200_000 }, async ({ name }, { skip }) => {
    const problem = await installHost(name);
    if (problem !== undefined) {
      console.warn(`SKIPPED ${name}: it cannot be installed here: ${problem}`);
      skip(`cannot be installed: ${problem}`);
    }
    const { passed, failures } = await testHost(name);
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(leastTests);
  });
});
