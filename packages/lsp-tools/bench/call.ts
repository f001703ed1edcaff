import type { LspTools } from "../src/index.ts";

/** Calls a tool that must succeed. */
export const callOf = (lsp: LspTools, directory: string) => async (name: string, input: object) => {
  const result = await lsp.tools.find((tool) => tool.name === `lsp_${name}`)?.call(input, { directory });
  if (!result?.ok) throw new Error(`${name}: ${result?.text}`);
  return result as { text: string; data: Record<string, never> };
};

export const quantile = (samples: readonly number[], q: number) =>
  [...samples].sort((a, b) => a - b)[Math.floor((samples.length - 1) * q)] ?? Number.NaN;

/** Wall time of some work, in ms. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** CPU time of this process during some work, in ms: what other programs of the machine do is not in it. */
export async function cpuTimed(work: () => Promise<unknown>): Promise<number> {
  const start = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
