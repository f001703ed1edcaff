import { existsSync, readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const packages = fileURLToPath(new URL("./packages", import.meta.url));
const long = process.env.TOOLHAFT_LONG === "1";

/** Tests read sources, so a change is seen without a build; child processes in tests use the built packages. */
const alias = [
  { find: /^@toolhaft\/([^/]+)$/, replacement: `${packages}/$1/src/index.ts` },
  { find: /^@toolhaft\/([^/]+)\/(.+)$/, replacement: `${packages}/$1/src/$2.ts` },
];

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: readdirSync(packages)
      .filter((name) => existsSync(`${packages}/${name}/test`))
      .map((name) => ({
        resolve: { alias },
        test: {
          name,
          root: `${packages}/${name}`,
          include: ["test/**/*.test.ts"],
          exclude: long ? [] : ["test/**/*.long.test.ts"],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      })),
  },
});
