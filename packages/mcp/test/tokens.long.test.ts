import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { familyNames, peerTools, tokensOf, toolsOf } from "../bench/listings.ts";

const command = fileURLToPath(new URL("../../toolhaft/dist/bin.js", import.meta.url));

it.runIf(existsSync(command))(
  "tokens-1: the mean of all our tools is that of @playwright/mcp at most; none is over 400 whose definition does not raise it",
  async () => {
    const mean = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0) / numbers.length;
    const [playwright] = await peerTools();
    const ours: { name: string; tokens: number }[] = [];
    for (const family of await familyNames(command))
      for (const tool of await toolsOf([command, "mcp", family, "--quiet"]))
        ours.push({ name: tool.name, tokens: tokensOf(tool) });
    const peers = (playwright?.tools ?? []).map(tokensOf);
    console.log(
      `ours ${ours.length} tools, mean ${mean(ours.map(({ tokens }) => tokens))}; playwright mean ${mean(peers)}`,
    );
    expect(mean(ours.map(({ tokens }) => tokens))).toBeLessThanOrEqual(mean(peers));
    // defineTool itself refuses a tool over 400 estimated tokens that does not raise `maxSchemaTokens`; the estimate is
    // within 15 %.
    expect(ours.filter(({ tokens }) => tokens > 460)).toEqual([]);
  },
);
