import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { defineBench } from "@toolhaft/testing";
import { encode } from "gpt-tokenizer/encoding/o200k_base";

const require = createRequire(import.meta.url);
const command = fileURLToPath(new URL("../../toolhaft/dist/bin.js", import.meta.url));

interface Listed {
  name: string;
  description?: string | undefined;
  inputSchema: unknown;
}

/** What a listing costs a model, counted with o200k over name, description and schema, beside well-known servers in the same run. */
export default defineBench(async (bench) => {
  if (!existsSync(command))
    return bench.skip("tokens of a listing", "packages/toolhaft is not built: run npm run build");
  const peers = [
    { name: "@playwright/mcp", args: [program("@playwright/mcp", "cli.js"), "--headless"] },
    {
      name: "server-filesystem",
      args: [program("@modelcontextprotocol/server-filesystem", "dist/index.js"), tmpdir()],
    },
    { name: "server-memory", args: [program("@modelcontextprotocol/server-memory", "dist/index.js")] },
  ];
  const counted = await Promise.all(
    peers.map(async ({ name, args }) => ({ name, tokens: (await toolsOf(args)).map(tokensOf) })),
  );
  const families = await familyNames();
  const ours: { name: string; tools: Listed[] }[] = [];
  for (const name of families) ours.push({ name, tools: await toolsOf([command, "mcp", name, "--quiet"]) });
  const all = ours.flatMap(({ tools }) => tools);

  const row = (name: string, tokens: number[]) => [
    name,
    tokens.length,
    sum(tokens),
    Math.round(mean(tokens)),
    Math.max(...tokens),
  ];
  bench.table(
    "tokens of a listing (o200k: name, description, schema)",
    ["set", "tools", "tokens", "mean", "largest"],
    [
      ...ours.map(({ name, tools }) => row(`toolhaft ${name}`, tools.map(tokensOf))),
      row("toolhaft, all", all.map(tokensOf)),
      ...counted.map(({ name, tokens }) => row(name, tokens)),
    ],
  );
  bench.table(
    "largest tools",
    ["tool", "tokens"],
    all
      .map((tool): [string, number] => [tool.name, tokensOf(tool)])
      .sort((a, b) => b[1] - a[1])
      .slice(0, 10),
  );
  const playwright = counted[0]?.tokens ?? [];
  bench.figure({
    name: "schema tokens, mean per tool",
    ours: mean(all.map(tokensOf)),
    baseline: { name: "@playwright/mcp", value: mean(playwright) },
    unit: "tokens",
    target: { max: 1 },
  });
  bench.figure({
    name: "estimateTokens, mean absolute error",
    ours: mean(all.map((tool) => Math.abs(estimate(tool) - tokensOf(tool)) / tokensOf(tool))),
    baseline: { name: "o200k", value: 1 },
    unit: "of the count",
    target: { max: 0.15 },
  });
});

const tokensOf = ({ name, description = "", inputSchema }: Listed) =>
  encode(`${name}\n${description}\n${JSON.stringify(inputSchema)}`).length;
/** The formula of core: bytes of name, description and schema over 4.8. */
const estimate = ({ name, description = "", inputSchema }: Listed) =>
  Math.ceil(Buffer.byteLength(JSON.stringify({ name, description, schema: inputSchema })) / 4.8);
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
const mean = (numbers: readonly number[]) => sum(numbers) / numbers.length;

function program(name: string, file: string): string {
  return join(dirname(require.resolve(`${name}/package.json`)), file);
}

async function toolsOf(args: readonly string[]): Promise<Listed[]> {
  const client = new Client({ name: "bench", version: "1" });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args], stderr: "ignore" }));
  try {
    return (await client.listTools()).tools;
  } finally {
    await client.close();
  }
}

/** Every family that the command knows, by its own help. */
async function familyNames(): Promise<string[]> {
  const { spawnSync } = await import("node:child_process");
  // On standard error: the output of `mcp` is the protocol's alone.
  const { stderr: help } = spawnSync(process.execPath, [command, "mcp", "--help"], {
    encoding: "utf8",
    env: { ...process.env, COLUMNS: "1000" },
  });
  const names = /families to serve: ([\s\S]*?), all/.exec(help)?.[1] ?? "";
  return names.split(/,\s+/);
}
